// Why a volume is not attached yet: an error that the attacher of its driver reports, or its silence.
import type { VolumeAttachment } from "#api";
import type { Clock } from "#base";
import type { SeenVolume } from "#controllerkit";

/** How long an attacher may take before it is reported, and between two reports of the same failure. */
const patienceMilliseconds = 2 * 60_000;

export const attachFailedText = ({ metadata }: SeenVolume, error: string): string =>
  `AttachVolume.Attach failed for volume "${metadata.name}" : ${error}`;

export class AttachFailures {
  readonly #clock: Clock;
  /** The last reported failure of each pending attachment, and when it was reported or the wait began. */
  readonly #pending = new Map<string, { readonly reported: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the failure to report now, if any, and the milliseconds until the next check. */
  check(
    { metadata, status }: Pick<VolumeAttachment, "metadata" | "status">,
    { spec }: SeenVolume,
  ): { readonly failure: string | undefined; readonly milliseconds: number } {
    const name = metadata.name!;
    const now = this.#clock.monotonic();
    const { message, time } = status.attachError ?? {};
    const current = status.attachError ? `${time} ${message}` : "";
    const { reported, since } = this.#pending.get(name) ?? { reported: "", since: now };
    const isNew = current !== "" && current !== reported;
    const isOverdue = now - since >= patienceMilliseconds;
    const start = isNew || isOverdue ? now : since;
    this.#pending.set(name, { reported: current, since: start });
    const { driver, volumeHandle } = spec.csi!;
    const silence = `timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${volumeHandle}`;
    return {
      failure: isNew || isOverdue ? message || silence : undefined,
      milliseconds: start + patienceMilliseconds - now,
    };
  }

  forget(name: string): void {
    this.#pending.delete(name);
  }
}
