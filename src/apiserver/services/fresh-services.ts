// Before a service gets its address, everything that was written before is known: what was just given back
// can be had, what was just taken cannot.
import type { AdmissionPlugin } from "#admission";
import type { Core } from "../server.ts";

export const freshServices = (core: Core): AdmissionPlugin => ({
  name: "ServiceAllocation",
  handles: ["CREATE"],
  mutate: async ({ resource, subresource }) => {
    if (resource.group === "" && resource.resource === "services" && subresource === "")
      await core.feed.current();
  },
});
