"""The files a Luanti needs to be ours: world, settings, shaders that can draw cells, and the library that holds it."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

from worlds.adapters.engine import EngineError

_ADAPTERS = Path(__file__).resolve().parents[1]
SHARES = (Path("/usr/share/games/minetest"), Path("/usr/share/minetest"), Path("/usr/local/share/minetest"))
PROGRAM_FOLDERS = "/usr/games:/usr/local/games:/usr/bin:/usr/local/bin"
PACKAGES = "minetest minetest-server minetest-data xvfb libgl1-mesa-dri gcc libc6-dev"
INSTALL = "apt-get install --no-install-recommends " + PACKAGES

MOUSE_DEG_PER_PX = 0.01

# The colour of a cell: x mod 256, which shader drew it with y mod 64, z mod 256.
_NODE_CODE, _OBJECT_CODE = 64, 128

_CELL_CODE = """
    if (mcrl_cells > 0.5) {
        // A tenth of a node into what was hit, so that a face belongs to its node and thin layers to theirs.
        vec3 cell = floor((worldPosition + cameraOffset - normalize(vNormal + vec3(1e-6)) * %s) / 10.0 + 0.5);
        gl_FragColor = vec4(mod(cell.x, 256.0), mod(cell.y, 64.0) + %d.0, mod(cell.z, 256.0), 255.0) / 255.0;
        return;
    }
"""

_SETTINGS = {
    # Pictures: no smoothing in time, nothing that moves by itself, near and far drawn alike every time.
    "viewing_range": 64,
    "fullscreen": False,
    "autosave_screensize": False,
    "fps_max": 10000,
    "fps_max_unfocused": 10000,
    "pause_on_lost_focus": False,
    "vsync": False,
    "fsaa": 0,
    "enable_shaders": True,
    "enable_dynamic_shadows": False,
    "enable_clouds": False,
    "enable_particles": False,
    "enable_minimap": False,
    "enable_sound": False,
    "enable_waving_leaves": False,
    "enable_waving_plants": False,
    "enable_waving_water": False,
    "view_bobbing_amount": 0,
    "fall_bobbing_amount": 0,
    "camera_smoothing": 0,
    "arm_inertia": False,
    "node_highlighting": "none",
    "show_debug": False,
    "smooth_lighting": True,
    "mesh_generation_interval": 0,
    "directional_colored_fog": False,
    # Keys: what a hand does goes by the keyboard, too, so that no pointer has to be anywhere.
    "keymap_dig": "KEY_KEY_K",
    "keymap_place": "KEY_KEY_L",
    "keymap_forward": "KEY_KEY_W",
    "keymap_backward": "KEY_KEY_S",
    "keymap_left": "KEY_KEY_A",
    "keymap_right": "KEY_KEY_D",
    "keymap_jump": "KEY_SPACE",
    "keymap_sneak": "KEY_LSHIFT",
    "keymap_aux1": "KEY_KEY_E",
    "keymap_zoom": "KEY_KEY_Z",
    "keymap_drop": "KEY_KEY_Q",
    "keymap_inventory": "KEY_F12",
    "keymap_slot9": "KEY_KEY_9",
    "aux1_descends": False,
    "always_fly_fast": False,
    "safe_dig_and_place": False,
    "autojump": False,
    # The server in the same process: on loopback, quick to answer, all of the world within sight sent at once.
    "bind_address": "127.0.0.1",
    "enable_ipv6": False,
    "ipv6_server": False,
    "server_announce": False,
    "enable_damage": True,
    "disable_anticheat": True,
    "creative_mode": False,
    "give_initial_stuff": False,
    "show_statusline_on_connect": False,
    "dedicated_server_step": 0.01,
    "time_speed": 0,
    # What grows where two pieces of a map meet hangs on which was made first: only the mod makes any, in one order.
    "num_emerge_threads": 1,
    "max_block_generate_distance": -1,
    "max_block_send_distance": 8,
    "max_simultaneous_block_sends_per_client": 2000,
    "full_block_send_enable_min_time_from_building": 0,
    "block_send_optimize_distance": 8,
    "server_side_occlusion_culling": False,
    "max_forceloaded_blocks": 100000,
    "server_unload_unused_data_timeout": 100000,
    "client_unload_unused_data_timeout": 100000,
    "client_mapblock_limit": -1,
    "active_block_range": 1,
    "enable_fire": False,
    "secure.trusted_mods": "mcrl",
    "update_last_checked": "disabled",
}


def find_minetest() -> str | None:
    """Return where Luanti's program is, None where it is not installed."""
    return shutil.which("minetest", path=PROGRAM_FOLDERS)


def find_programs() -> dict[str, str]:
    """Return where Xvfb, Luanti, its shared files and a C compiler are; EngineError says how to mend it."""
    found = {
        "Xvfb": shutil.which("Xvfb"),
        "minetest": find_minetest(),
        "cc": shutil.which("cc") or shutil.which("gcc"),
        "share": next((str(share) for share in SHARES if (share / "client/shaders").is_dir()), None),
    }
    missing = [name for name, place in found.items() if place is None]
    if missing:
        raise EngineError("luanti: {} not found; install it with `{}`".format(", ".join(missing), INSTALL))
    return {name: place for name, place in found.items() if place is not None}


def write_shaders(share: str, folder: Path) -> None:
    """Copy Luanti's shaders to `folder`, able to draw cells instead of colours."""
    shutil.copytree(Path(share) / "client/shaders", folder)
    for name, depth, code in (("nodes_shader", "1.0", _NODE_CODE), ("object_shader", "0.0", _OBJECT_CODE)):
        path = folder / name / "opengl_fragment.glsl"
        text = path.read_text()
        marks = ("uniform vec3 eyePosition;", "gl_FragColor = col;")
        if any(mark not in text for mark in marks):
            raise EngineError(
                f"luanti: the shader {path.name} is not that of Luanti 5.6, which this adapter knows; "
                "install Debian 12's minetest"
            )
        text = text.replace(marks[0], marks[0] + "\nuniform float mcrl_cells;", 1)
        path.write_text(text.replace(marks[1], _CELL_CODE % (depth, code) + "\n\t" + marks[1], 1))


def build_lockstep(compiler: str, folder: Path) -> Path:
    """Compile the library that hands out frames; return its path."""
    library = folder / "lockstep.so"
    source = _ADAPTERS / "luanti_client/lockstep.c"
    done = subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(source)], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise EngineError(f"luanti: {compiler} cannot build lockstep.c: {done.stderr.strip()[-300:]}")
    return library


def write_world(folder: Path, *, seed: int, port: int, token: str, window_px: tuple[int, int], shaders: Path) -> Path:
    """Write a world that Luanti will make from `seed`, with our mod in it; return its settings file.

    It is kept in memory alone: what an episode changes never reaches a disk from which it would come back.
    """
    world = folder / "world"
    shutil.rmtree(world, ignore_errors=True)
    shutil.copytree(_ADAPTERS / "luanti_mod", world / "worldmods/mcrl")
    backends = ("backend", "player_backend")
    (world / "world.mt").write_text(
        "gameid = minetest_game\nauth_backend = sqlite3\nmod_storage_backend = sqlite3\n"
        + "".join(f"{name} = dummy\n" for name in backends)
    )
    settings = dict(_SETTINGS, screen_w=window_px[1], screen_h=window_px[0], shader_path=str(shaders))
    settings.update(
        mcrl_port=port, mcrl_token=token, mg_name="v7", fixed_map_seed=seed, mouse_sensitivity=MOUSE_DEG_PER_PX
    )
    path = folder / "minetest.conf"
    path.write_text("".join(f"{name} = {_text(value)}\n" for name, value in settings.items()))
    return path


def cell_code(node: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return the colour that a node has where cells are drawn."""
    x, y, z = node
    return x % 256, _NODE_CODE + y % 64, z % 256


def remove(folder: Path) -> None:
    """Remove a folder; what is being written there a last time does not matter."""
    shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a UDP port of loopback that is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
