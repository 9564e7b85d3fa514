// Waits until a volume is attached to the node, by the controller or, depending on the settings, by the
// agent.
import { ApiError, type Clock } from "#base";
import { type ApiClient, kinds } from "#client";
import { attachmentName } from "./volume-data.ts";

export interface CsiAttachments {
  /** Waits for the attachment and returns its metadata; rejects if it fails or times out. */
  await(volume: AttachedVolume, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Deletes an attachment that the agent created. */
  detach(name: string): Promise<void>;
}

export interface AttachedVolume {
  readonly driver: string;
  readonly handle: string;
  readonly persistentName: string;
}

export interface CsiAttachmentsOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly nodeName: string;
  /** False if the agent attaches volumes. */
  readonly byController: boolean;
}

const pollMilliseconds = 500;
/** Timeout for an attachment; pod sync retries later. */
const timeoutMilliseconds = 120_000;

export function csiAttachments(options: CsiAttachmentsOptions): CsiAttachments {
  const { client, clock, nodeName } = options;
  const attachments = client.of(kinds.volumeAttachments);
  const getAttachment = (name: string) =>
    attachments.get(name).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
  return {
    await: async ({ driver, handle, persistentName }, signal) => {
      const name = attachmentName(handle, driver, nodeName);
      const until = clock.monotonic() + timeoutMilliseconds;
      for (;;) {
        const attachment = await getAttachment(name);
        if (attachment?.status?.attached) return attachment.status.attachmentMetadata ?? {};
        const problem = attachment?.status?.attachError?.message;
        if (problem) throw new Error(`attachment of volume ${handle} failed: ${problem}`);
        if (attachment?.metadata.deletionTimestamp)
          throw new Error(`volume ${handle} is being detached: VolumeAttachment ${name} is being deleted`);
        if (!attachment && !options.byController)
          await attachments.create({
            metadata: { name },
            spec: { attacher: driver, nodeName, source: { persistentVolumeName: persistentName } },
          });
        if (clock.monotonic() >= until)
          throw new Error(
            attachment
              ? `timed out waiting for external-attacher of ${driver} CSI driver to attach volume ${handle}`
              : `volume attachment ${name} of volume ${handle} does not exist yet`,
          );
        await clock.sleep(pollMilliseconds, signal);
      }
    },
    detach: async (name) => {
      if (options.byController) return;
      await attachments.delete(name).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
      });
    },
  };
}
