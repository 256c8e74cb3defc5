"""A pixel on a GPU: what worlds.voxel.render.draw_pixel draws, with leaping rays and few registers.

The source knows nothing of CUDA, see worlds.voxel.link.
"""

from worlds.types import INSTANCE_SKY
from worlds.voxel.cuda.leap import leap_ray, torus_of
from worlds.voxel.cuda.views import load_view
from worlds.voxel.link import Kernel
from worlds.voxel.render_entities import ENTITY_INSTANCE, HURT, meet_entities
from worlds.voxel.render_view import LOOK_TEXTURE_SET, pixel_ray
from worlds.voxel.shading import i32, instance_of, light_of_level, redden, shade, u32


def draw_ray(  # type: ignore[no-untyped-def]
    scene, block_N, field_N, block_looks, model_looks, real_R, whole_I, v, row, column, picture
):
    """Draw one pixel of picture v, which shows the one world of `scene`, and return its instance id.

    `block_N` and `field_N` are that world's arrays, flat: a ray looks into them with one multiplication less a side.
    The view is loaded twice: what only the colour needs is then not held in registers along the ray's way.
    """
    view = load_view(real_R, whole_I)
    atlas_N = scene.atlas_AN[int(scene.look_WL[0, LOOK_TEXTURE_SET])]
    dx, dy, dz = pixel_ray(view, row, column)
    torus = torus_of(scene.block_WXZY[0])
    cell, distance, address, light, level, _ = leap_ray(block_N, field_N, torus, block_looks, atlas_N, view, dx, dy, dz)
    is_hit, instance, texel = cell != 0, i32(INSTANCE_SKY), u32(0)
    if is_hit:
        light *= light_of_level(level)
        texel, instance = atlas_N[address], i32(instance_of(cell))
    m, near, near_address, near_light = meet_entities(scene, model_looks, view, 0, atlas_N, dx, dy, dz, distance)
    colors = load_view(real_R, whole_I)
    hue_red, hue_green, hue_blue = colors.tint_red, colors.tint_green, colors.tint_blue
    if m >= 0:
        is_hit, distance, light = True, near, near_light
        texel = redden(atlas_N[near_address], scene.entity_WMF[0, m, HURT])
        instance = i32(scene.entity_WMF[0, m, ENTITY_INSTANCE])
        hue_red, hue_green, hue_blue = colors.hue_red, colors.hue_green, colors.hue_blue
    color = shade(colors, texel, is_hit, light, hue_red, hue_green, hue_blue, distance, dx, dy, dz)
    picture.image_VHWC[v, row, column, 0] = color & u32(255)
    picture.image_VHWC[v, row, column, 1] = (color >> u32(8)) & u32(255)
    picture.image_VHWC[v, row, column, 2] = (color >> u32(16)) & u32(255)
    picture.instance_VHW[v, row, column] = instance
    if picture.depth_VHW.shape[0] > 0:
        picture.depth_VHW[v, row, column] = distance
    return instance


SOURCES: tuple[Kernel, ...] = (draw_ray,)
