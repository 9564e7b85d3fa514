// Starts the packed library once and uses it as a test would, so that V8's code cache of its scripts (bin/packed-library.js)
// covers a start and the usual requests. The build runs this with the runtime that the package brings; another version of Node
// caches for itself.
const { kinds, startServer } = await import("orch/apiserver");
const server = await startServer({ store: "memory" });
const maps = server.client.of(kinds.configMaps);
const address = { namespace: "default" };
const watching = new AbortController();
const watched = (async () => {
  for await (const event of maps.watch({ ...address, signal: watching.signal }))
    if (event.type === "DELETED") return;
})();
const map = await maps.create({ metadata: { name: "warm", ...address }, data: { a: "1" } });
await maps.get("warm", address);
await maps.update({ ...map, data: { a: "2" } });
await maps.patch("warm", "merge", { data: { b: "3" } }, address);
for await (const page of maps.pages(address)) void page;
await maps.delete("warm", address);
await watched;
watching.abort();
await server.stop();
