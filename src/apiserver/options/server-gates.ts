// The feature gates of the API server. Gates of features that this server does not have are rejected:
// accepting one without effect would be misleading.
import { type Gate, knownGates } from "#options";

const refused: Readonly<Record<string, string>> = {
  MultiCIDRServiceAllocator:
    "service addresses are allocated by a single allocator, not as IPAddress objects",
  StorageVersionAPI: "servers do not report which versions they store",
};

export const serverGates: readonly Gate[] = knownGates.map((gate) => {
  const why = refused[gate.name];
  return why === undefined ? gate : { ...gate, refused: why };
});
