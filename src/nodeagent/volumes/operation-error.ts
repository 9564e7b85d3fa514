// A failed step of setting up or expanding a volume, worded as in the kubelet.

export type VolumeFailure = "FailedMount" | "FailedMapVolume" | "VolumeResizeFailed";

/** Carries the reason of the event that reports it; `what` is such as "MountVolume.SetUp failed". */
export class VolumeOperationError extends Error {
  override readonly name: string = "VolumeOperationError";
  readonly reason: VolumeFailure;

  constructor(reason: VolumeFailure, what: string, volume: string, why: string, options?: ErrorOptions) {
    super(`${what} for volume ${JSON.stringify(volume)} : ${why}`, options);
    this.reason = reason;
  }
}
