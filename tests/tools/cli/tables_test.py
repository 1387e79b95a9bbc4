"""Tests of searches on the recorded tables of times (tests/tuning)."""
import json
import pathlib

from cli_case import CliTest, main

TABLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "tuning" / "tables").glob("*.jsonl"))


class Tables(CliTest):
    def test_searches_find_fast_schedules(self):
        self.assertEqual(len(TABLES), 6)
        rows = json.loads(self.good("db", "simulate", *map(str, TABLES), "--trials", "64", "--seeds", "5",
                                    "--json"))["simulations"]
        for row in rows:
            if row["strategy"] != "search":
                continue
            with self.subTest(table=row["table"]):
                self.assertLessEqual(row["selection"], 0.01)
                self.assertLessEqual(row["exploration"], 0.06)


if __name__ == "__main__":
    main()
