// The feature gates of the API server. What is not built cannot be switched on: a gate that is accepted and does
// nothing would be believed.
import { type Gate, knownGates } from "#options";

const refused: Readonly<Record<string, string>> = {
  MultiCIDRServiceAllocator: "addresses of services are kept by one allocator, not as IPAddress objects",
  StorageVersionAPI: "servers do not report which versions they store",
};

export const serverGates: readonly Gate[] = knownGates.map((gate) => {
  const why = refused[gate.name];
  return why === undefined ? gate : { ...gate, refused: why };
});
