"""The contact sheet: one picture of what the engine shows, made by `mcrl sheet`. H W C image.

Biomes, mobs, structures, times of day and weather, caves and water, texture sets, a resource pack. Every view point is
chosen by rule from fixed seeds, so that two sheets of one commit are the same and two commits can be compared.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from eval.episodes.picture_file import write_picture
from eval.showcase.closeup import inside_view, level_ground, look_at
from eval.showcase.viewpoint import landscape_view
from worlds.blocks import BLOCK_ID
from worlds.generate.biomes import BIOMES
from worlds.generate.buildings import BUILDINGS
from worlds.generate.land import Land
from worlds.generate.relief import ground_XZ as raise_land
from worlds.generate.sites import Site, choose_sites
from worlds.mobs.kinds import MOBS
from worlds.spec import BLOCK_MASK, Episode, Look, Placement, World, WorldSpec
from worlds.textures.resource_pack import ResourcePack
from worlds.types import Pose
from worlds.voxel.backend import VoxelBackend
from worlds.voxel.world_cache import WorldCache

PANEL_PX = (180, 320)  # height, width
_NUM_COLUMNS = 5
_CAPTION_PX, _HEADING_PX, _GAP_PX = 20, 34, 6
_INK, _MUTED, _PAPER = (40, 36, 32), (110, 104, 98), (250, 250, 248)  # BGR
_SIZE_BLOCKS = (128, 64, 128)
_NUM_SEEDS = 3  # worlds that are looked through for the best view
_NUM_SITE_SEEDS = 40  # of each biome, in which a structure is looked for
_MOBS_A_PANEL = 4
_YAW_OF_FRONT_DEG = {(0, 1): 180.0, (-1, 0): 270.0, (0, -1): 0.0, (1, 0): 90.0}  # of who looks at that side


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture of the sheet."""

    caption: str
    image_HWC: np.ndarray  # uint8 RGB of PANEL_PX


@dataclass(frozen=True, slots=True)
class Section:
    """Panels under one heading."""

    heading: str
    panels: Sequence[Panel]


class SheetMaker:
    """Renders the panels."""

    NUM_SECTIONS = 6

    def __init__(self, packs: Sequence[ResourcePack] = ()) -> None:
        """Make sheets that show `packs` too."""
        self._packs = packs
        self._worlds = WorldCache()
        self._backend = VoxelBackend(
            1, size_blocks=_SIZE_BLOCKS, image_px=PANEL_PX, resource_packs=packs, world_cache=self._worlds
        )

    def sections(self) -> Iterator[Section]:
        """Return all sections in order, each made when asked for."""
        yield Section("Biomes", [self._biome_panel(name) for name in BIOMES])
        yield Section("Mobs", self._mob_panels())
        yield Section("Structures", [panel for name in BUILDINGS if (panel := self._structure_panel(name))])
        yield Section("Light and weather", self._look_panels())
        yield Section("Water and caves", [self._water_panel(), self._under_water_panel(), *self._cave_panels()])
        yield Section("Texture sets", self._texture_panels())

    def _world(self, biome: str, seed: int) -> World:
        return self._worlds.get([_spec(biome, seed)])[0].world

    def _render(
        self, world: World, eye: Pose, *, look: Look | None = None, placements: Sequence[Placement] = ()
    ) -> np.ndarray:
        episode = Episode(world=world.spec, start=eye, look=look or Look(), placements=tuple(placements))
        self._backend.reset([0], [episode])
        return self._backend.render_views([0], np.array([eye], np.float64)).image_VHWC[0]

    def _biome_panel(self, name: str) -> Panel:
        world = self._world(name, 1)
        return Panel(name.replace("_", " "), self._render(world, landscape_view(world)))

    def _mob_panels(self) -> list[Panel]:
        spec = dataclasses.replace(_spec("plains", 1), detail="plain")
        world = self._worlds.get([spec])[0].world
        x, y, z = level_ground(world, width=14, depth=12)
        panels = []
        for first in range(0, len(MOBS), _MOBS_A_PANEL):
            kinds = MOBS[first : first + _MOBS_A_PANEL]
            # In a row from west to east, looking south past the camera.
            placements = [Placement(kind=kind.name, position=(x - 3 + 2 * i, y, z - 1)) for i, kind in enumerate(kinds)]
            eye = Pose(x + 2.1, y + 1.9, z + 3.9, 160.0, 13.0)
            caption = ", ".join(kind.name.replace("_", " ") for kind in kinds)
            panels.append(Panel(caption, self._render(world, eye, placements=placements)))
        return panels

    def _structure_panel(self, name: str) -> Panel | None:
        """Return a picture of the first structure of that name in the worlds looked through, if any."""
        biomes = [biome for biome in BIOMES if name in BIOMES[biome].structures]
        for seed in range(1, 1 + _NUM_SITE_SEEDS):
            for biome in biomes:
                for site in _sites_of(_spec(biome, seed)):
                    if site.name == name:
                        caption = f"{name.replace('_', ' ')}, {biome.replace('_', ' ')}"
                        world = self._world(biome, seed)
                        return Panel(caption, self._render(world, _view_of(world, site)))
        return None

    def _look_panels(self) -> list[Panel]:
        world = self._world("forest", 2)
        eye = landscape_view(world)
        looks = {
            "sunrise": Look(time_ticks=100),
            "noon": Look(),
            "sunset": Look(time_ticks=11900),
            "night": Look(time_ticks=18000),
            "rain": Look(weather="rain"),
            "fog 4": Look(fog=4.0),
            "tint (1.2, 0.95, 0.75)": Look(tint=(1.2, 0.95, 0.75)),
            "field of view 100": Look(fov_deg=100.0),
            "brightness 0.6": Look(brightness=0.6),
        }
        return [Panel(caption, self._render(world, eye, look=look)) for caption, look in looks.items()]

    def _water_panel(self) -> Panel:
        water = BLOCK_ID["water"]
        names = [name for name in ("swamp", "beach", "ocean", "plains", "forest") if name in BIOMES]
        worlds = [self._world(name, seed) for name in names for seed in range(1, 1 + _NUM_SEEDS)]
        wettest = max(worlds, key=lambda world: int((world.block_XZY & BLOCK_MASK == water).any(axis=2).sum()))
        eye = landscape_view(wettest, wanted_kinds=(water,), height_blocks=3.0)
        return Panel(f"water, {wettest.spec.biome.replace('_', ' ')}", self._render(wettest, eye))

    def _under_water_panel(self) -> Panel:
        worlds = [self._world("plains", seed) for seed in range(1, 1 + _NUM_SEEDS)]
        views = [inside_view(world, BLOCK_ID["water"], covered=False) for world in worlds]
        best = max(range(len(views)), key=lambda index: views[index][1])
        return Panel("under water", self._render(worlds[best], views[best][0]))

    def _cave_panels(self) -> list[Panel]:
        """Return the largest caves of the first worlds, as dark as they are and in the light of another day."""
        worlds = [self._world(name, seed) for name in ("plains", "forest") for seed in range(1, 1 + _NUM_SEEDS)]
        views = [inside_view(world, BLOCK_ID["air"], covered=True) for world in worlds]
        order = sorted(range(len(views)), key=lambda index: -views[index][1])[:2]
        return [
            Panel(
                f"cave, {worlds[index].spec.biome}",
                self._render(worlds[index], views[index][0], look=Look(brightness=1.5)),
            )
            for index in order
        ]

    def _texture_panels(self) -> list[Panel]:
        # A house and what is about it: wood, stone, glass, plants and soil in one picture.
        world, eye = next(
            (world, _view_of(world, site))
            for seed in range(1, 1 + _NUM_SITE_SEEDS)
            for site in _sites_of(_spec("plains", seed))
            if site.name == "house"
            for world in [self._world("plains", seed)]
        )
        sets = {"own": "own set"} | {f"own:{number}": f"variant {number}" for number in (1, 2, 3)}
        sets |= {f"pack:{pack.sha256}": f"resource pack {pack.sha256[:8]}" for pack in self._packs}
        return [
            Panel(caption, self._render(world, eye, look=Look(textures=textures))) for textures, caption in sets.items()
        ]


def _spec(biome: str, seed: int) -> WorldSpec:
    return WorldSpec(seed=seed, biome=biome, size_blocks=_SIZE_BLOCKS)


def _sites_of(spec: WorldSpec) -> list[Site]:
    """Return the structures of a world, without making its blocks."""
    land = Land(spec, BIOMES[spec.biome])
    ground_XZ = raise_land(land)
    return choose_sites(land, ground_XZ, np.zeros(ground_XZ.shape, np.uint8))


def _view_of(world: World, site: Site) -> Pose:
    """Return an eye that sees a structure from its front; of one below the ground, its entrance."""
    side_x, side_z, side_y = site.plan.block_XZY.shape
    x, z = site.corner_xz[0] + side_x / 2, site.corner_xz[1] + side_z / 2
    dx, dz = site.front_xz[0] + 0.5 - x, site.front_xz[1] + 0.5 - z
    front = (int(np.sign(dx)), 0) if abs(dx) > abs(dz) else (0, int(np.sign(dz)))
    half, height = max(side_x, side_z) / 2, side_y - site.plan.depth
    if site.plan.depth > 4 and side_y - site.plan.depth < 8:
        x, z, half = site.front_xz[0] + 0.5 - 2 * front[0], site.front_xz[1] + 0.5 - 2 * front[1], 2.5
    return look_at(
        world,
        (x, site.level + 1.0, z),
        half_blocks=half,
        height_blocks=height,
        front_deg=_YAW_OF_FRONT_DEG[front],
    )


def compose(sections: Sequence[Section]) -> np.ndarray:
    """Return the sheet, uint8 [H, W, 3] BGR."""
    height_px, width_px = PANEL_PX
    width = _NUM_COLUMNS * (width_px + _GAP_PX) + _GAP_PX
    rows = []
    for section in sections:
        heading_HWC = np.full((_HEADING_PX, width, 3), _PAPER, np.uint8)
        _write(heading_HWC, section.heading, _GAP_PX, _HEADING_PX - 10, _INK, 0.7)
        rows.append(heading_HWC)
        for first in range(0, len(section.panels), _NUM_COLUMNS):
            row_HWC = np.full((height_px + _CAPTION_PX + _GAP_PX, width, 3), _PAPER, np.uint8)
            for column, panel in enumerate(section.panels[first : first + _NUM_COLUMNS]):
                left = _GAP_PX + column * (width_px + _GAP_PX)
                row_HWC[:height_px, left : left + width_px] = panel.image_HWC[..., ::-1]
                _write(row_HWC, panel.caption, left + 1, height_px + _CAPTION_PX - 6, _MUTED, 0.42)
            rows.append(row_HWC)
    return np.concatenate(rows)


def _write(image_HWC: np.ndarray, text: str, x: int, y: int, color: tuple[int, int, int], scale: float) -> None:
    cv2.putText(image_HWC, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, scale, color, 1, cv2.LINE_AA)


def write_sheet(path: Path, sections: Sequence[Section]) -> None:
    """Write the sheet as a .png or .jpg."""
    # opencv warns on the terminal of a setting that is another format's.
    is_jpeg = path.suffix.lower() in (".jpg", ".jpeg")
    setting = [cv2.IMWRITE_JPEG_QUALITY, 70] if is_jpeg else [cv2.IMWRITE_PNG_COMPRESSION, 9]
    write_picture(path, compose(sections), setting)
