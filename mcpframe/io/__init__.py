"""Files: one problem (npz), a corpus of many (HDF5), frictional contact (FCLIB HDF5), robots (URDF, MJCF)."""
