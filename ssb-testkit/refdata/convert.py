#!/usr/bin/env python3
"""Converts the independent reference data into the compact fixtures of this folder.

  python convert.py SOURCE_FOLDER         # writes wpo64, rect, sto128: NAME.json and NAME.bin.gz

SOURCE_FOLDER holds NAME.h5, NAME.json, reference_NAME.json/.npz and extra_NAME.json/.npz as written by
make_data.py, make_reference.py and make_extra.py of the independent NumPy reference (float64, literal).

NAME.json: calibration, disks, cases with their expected scalars, and a directory of arrays.
NAME.bin.gz: the arrays one after another, little-endian, C order, each byte-shuffled (all first bytes of
its words, then all second bytes, ...), the whole compressed with gzip and without a time stamp.
"""
import gzip
import json
import sys

import h5py
import numpy as np

# Which reference arrays are kept: mean phase and object of these cases, and these finer objects.
ARRAYS = {
    "wpo64": (["zero", "true", "high_order"], ["c12_only", "odd", "thick"], ["odd_object_x2", "odd_object_x3"]),
    "rect": (["true", "high_order"], ["c12_only", "odd", "thick"], ["thick_object_x2", "thick_object_x3"]),
    "sto128": (["true", "high_order"], [], []),
}
ODD = "__qmk"  # the q-k convention, which the definition does not use


def candidate(aberrations, tilt_mrad=(0.0, 0.0), depth_nm=0.0):
    out = {}
    for key, value in aberrations.items():
        out[key + ("_rad" if key.startswith("phi") else "_nm")] = float(value)
    out["tilt_mrad"] = [float(t) for t in tilt_mrad]
    out["depth_spread_nm"] = float(depth_nm)
    return out


def convert(name, source):
    with open(f"{source}/{name}.json") as fh:
        truth = json.load(fh)
    with open(f"{source}/reference_{name}.json") as fh:
        info = json.load(fh)
    ref = np.load(f"{source}/reference_{name}.npz")
    with h5py.File(f"{source}/{name}.h5") as fh:
        counts = fh["4d"][...]
    pattern = counts.reshape(-1, *counts.shape[2:]).sum(0, dtype=np.uint64)

    fitted = list(zip(ref["bf_rows"].tolist(), ref["bf_cols"].tolist()))
    disks = {
        "fitted": (info["bf_center_fitted"], info["bf_radius_px"], fitted),
        "true_center": (info["bf_center_true"], info["bf_radius_px"], fitted),
    }
    cases = [
        {"label": label, "disk": "fitted", "candidate": candidate(c["aberrations_nm_rad"]), "loss": c["loss"]}
        for label, c in info["candidates"].items()
        if not label.endswith(ODD)
    ]
    cases.append({"label": "true_center", "disk": "true_center",
                  "candidate": candidate(truth["aberrations_nm_rad"]),
                  "loss": info["loss_true_aberrations_true_center"]})

    keep, keep_extra, keep_fine = ARRAYS[name]
    arrays = {"pattern_sum": pattern.astype(np.uint32)}
    for label in keep:
        for what in ("mean_phase", "object"):
            arrays[f"{label}_{what}"] = ref[f"{label}_{what}"]
    for what in ("G", "gamma", "C", "O"):
        arrays[f"dbg_{what}"] = ref[f"dbg_{what}"]

    if keep_extra:
        with open(f"{source}/extra_{name}.json") as fh:
            extra = json.load(fh)
        more = np.load(f"{source}/extra_{name}.npz")
        by_label = {c["label"]: c for c in cases}
        for c in extra["cases"]:
            case = by_label.get(c["tag"])
            if case is None:
                case = {"label": c["tag"], "disk": "fitted", "loss": c["loss"],
                        "candidate": candidate(c["aberrations_nm_rad"], c["tilt_mrad"], c["depth_spread_nm"])}
                cases.append(case)
            case["agreement"] = c["agreement"]
            case["degenerate_fraction"] = c["degenerate_fraction"]
        wide = extra["wide_disk"]
        centre, radius = wide["bf_center_px"], wide["bf_radius_px"]
        rr, cc = np.nonzero(pattern > 0)
        inside = (rr - centre[0]) ** 2 + (cc - centre[1]) ** 2 <= radius**2
        pixels = list(zip(rr[inside].tolist(), cc[inside].tolist()))
        assert len(pixels) == wide["num_bf"]
        disks["wide"] = (centre, radius, pixels)
        cases.append({"label": "wide_disk", "disk": "wide", "candidate": candidate(truth["aberrations_nm_rad"]),
                      "loss": wide["loss"], "agreement": wide["agreement"],
                      "degenerate_fraction": wide["degenerate_fraction"],
                      "zero_aperture_pixels": wide["zero_aperture_pixels"]})
        for label in keep_extra:
            for what in ("mean_phase", "object"):
                arrays[f"{label}_{what}"] = more[f"{label}_{what}"]
        for key in keep_fine:
            arrays[key] = more[key]

    pixels = sorted({p for _, _, disk in disks.values() for p in disk})
    rows, cols = np.array(pixels).T
    arrays["columns"] = np.ascontiguousarray(counts[:, :, rows, cols].reshape(-1, len(pixels)).T)

    blob, directory = [], []
    for key, array in arrays.items():
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        width = {"complex128": 8, "complex64": 4}.get(array.dtype.name, array.dtype.itemsize)
        blob.append(array.reshape(-1).view(np.uint8).reshape(-1, width).T.tobytes())
        directory.append({"name": key, "dtype": array.dtype.name, "shape": list(array.shape)})
    index = {p: i for i, p in enumerate(pixels)}
    out = {
        "name": name,
        "description": truth["description"],
        "voltage_kv": truth["voltage_kV"],
        "semiangle_mrad": truth["semiangle_mrad"],
        "scan_step_a": truth["scan_sampling_A"],
        "det_step_mrad": truth["det_sampling_mrad"],
        "rotation_deg": truth["rotation_deg"],
        "scan_shape": truth["scan_shape"],
        "wavelength_a": info["wavelength_A"],
        "dc": info["dc_value"],
        "debug_bf_index": info["debug_bf_index"],
        "pixels": [[int(r), int(c)] for r, c in pixels],
        "disks": {k: {"center_px": list(c), "radius_px": r, "columns": [index[p] for p in sorted(d)]}
                  for k, (c, r, d) in disks.items()},
        "cases": cases,
        "arrays": directory,
    }
    with open(f"{name}.json", "w") as fh:
        json.dump(out, fh, separators=(",", ":"))
        fh.write("\n")
    with open(f"{name}.bin.gz", "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as fh:
        fh.write(b"".join(blob))
    print(name, len(pixels), "columns")


if __name__ == "__main__":
    for dataset in ARRAYS:
        convert(dataset, sys.argv[1])
