"""Tests of searches on the recorded tables of times (tests/tuning)."""
import json
import pathlib

from cli_case import CliTest, main

TABLES = sorted((pathlib.Path(__file__).resolve().parents[2] / "tuning" / "tables").glob("*.jsonl"))
FAMILIES = ["conv_1x1", "conv_3x3", "depthwise", "layer_norm", "product", "product_gelu"]


class Tables(CliTest):
    def test_searches_explore_as_well_as_draws_and_choose_well(self):
        self.assertEqual([path.stem for path in TABLES], FAMILIES)
        rows = json.loads(self.good("db", "simulate", *map(str, TABLES), "--trials", "64", "--seeds", "20",
                                    "--json"))["simulations"]
        draws = {row["table"]: row for row in rows if row["strategy"] == "draws"}
        for row in rows:
            if row["strategy"] != "search":
                continue
            with self.subTest(table=row["table"]):
                self.assertLess(row["exploration"], draws[row["table"]]["exploration"] + 0.02)
                self.assertLess(row["selection"], 0.05)


if __name__ == "__main__":
    main()
