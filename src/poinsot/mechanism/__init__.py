"""What the kernels read: flat tables of links, bodies, joints and loads, and all mechanics that formulations share."""
