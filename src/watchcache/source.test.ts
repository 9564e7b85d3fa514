import { sourceContract } from "./source.contract.ts";
import { openCached, openDirect } from "./source.fixture.ts";

sourceContract("cached", () => openCached());
sourceContract("cached, with a short memory", () => openCached({ bounds: { changes: 2, bytes: 1 } }));
sourceContract("objects in the store", () => openCached({ inStore: true }));
sourceContract("objects in the store, with a short memory", () =>
  openCached({ inStore: true, bounds: { changes: 2, bytes: 1 } }),
);
sourceContract("direct", openDirect);
