"""Creates folders that only the user can read or write."""
import grp
import os
import pwd
import stat


def why_not_private(path: str) -> str | None:
    """Creates a private folder unless it exists. Returns None, or the reason why other users could
    change or replace the folder."""
    path = os.path.abspath(path)
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or _others_write(found):
            return f"{path} is not a folder that belongs to this user alone"
        os.chmod(path, 0o700)
    except OSError as failure:
        return f"the folder {path} cannot be made: {failure}"
    unsafe = next((above for above in _above(path) if not _is_safe(above)), None)
    return None if unsafe is None else f"other users may replace files in {unsafe}"


def _above(path: str) -> list[str]:
    """Returns the folders and links on the way to a path, both as given and with links resolved."""
    ways = set()
    for way in (path, os.path.realpath(path)):
        while os.path.dirname(way) != way:
            way = os.path.dirname(way)
            ways.add(way)
    return sorted(ways)


def _is_safe(folder: str) -> bool:
    """Tests if only the user and root can replace the user's files in a folder. In a folder with
    the sticky bit, such as /tmp, only the owner of a file or of the folder can replace the file.
    For a link, only the owner is tested."""
    found = os.lstat(folder)
    if found.st_uid not in (0, os.getuid()):
        return False
    if stat.S_ISLNK(found.st_mode) or found.st_mode & stat.S_ISVTX:
        return True
    return not _others_write(found)


def _others_write(found: os.stat_result) -> bool:
    """Tests if other users may write, by the result of lstat. A group of only the user is
    allowed."""
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(number: int) -> bool:
    """Tests if a group is the private group that systems create for each user."""
    try:
        group, user = grp.getgrgid(number), pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
