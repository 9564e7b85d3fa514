// Waits until the service cache has caught up before an address is allocated: what was just released can be
// had, what was just taken cannot.
import type { AdmissionPlugin } from "#admission";

export const freshServices = (current: () => Promise<unknown>): AdmissionPlugin => ({
  name: "ServiceAllocation",
  handles: ["CREATE"],
  mutate: async ({ resource, subresource }) => {
    if (resource.group === "" && resource.resource === "services" && subresource === "") await current();
  },
});
