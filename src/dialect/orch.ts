// The dialect of our documentation: all names are neutral.

import { dialectFrom } from "./words.ts";

const asWritten = (neutral: string): string => neutral;

export const orch = dialectFrom({
  name: "orch",
  product: "orch",
  Product: "Orch",
  groupSuffix: "orch.io",
  labelDomain: "orch.io",
  componentPrefix: "orch-",
  agent: "nodeagent",
  podsCgroup: "orchpods",
  clientConfigFlag: "orchconfig",
  storeSpan: "store",
  spelling: { flag: asWritten, field: asWritten, word: asWritten },
});
