"""Where the kernels keep what of controllers: integers `IF`, doubles `XF`, filled by `drive_packing.py`."""

from mcpframe.jit.memory import VECTOR, Memory, columns

DRIVE = Memory()
# Row of DRIVES.
V_KIND, V_BODY, V_MOVES, V_NUMBERS, V_TARGETS, V_TIMES, DRIVE_ROW = range(7)
"""Kind; body that is pushed, or the address of a function; how many moves the reference makes; where in XF
its numbers, the coordinates before, between and after the moves, and their starts and durations begin."""
N_DRIVES, DRIVES, NUMBERS = DRIVE.count("drive"), DRIVE.integers("drive", DRIVE_ROW), DRIVE.doubles("number")
THETA_R, RATE_R, ACCELERATION_R = DRIVE.doubles("theta"), DRIVE.doubles("dof"), DRIVE.doubles("dof")
WANTED, FORCE = DRIVE.doubles("dof"), DRIVE.doubles("dof")
# V_KIND
PD, COMPUTED_TORQUE, PUSHING, CALLED = range(4)
# Numbers of a push: place in the body's inner axes, moment, force, start, stop; of the others kp, kd, limit
# [N].
P_PLACE, P_MOMENT, P_FORCE, P_START, P_STOP, PUSH_NUMBERS = columns(VECTOR, VECTOR, VECTOR, 1, 1)
