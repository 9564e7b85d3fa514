import assert from "node:assert/strict";
import { test } from "node:test";
import { hasData, templateData } from "./controller-history.ts";

const owner = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "a", creationTimestamp: null },
  spec: {
    template: {
      metadata: { labels: { b: "1", a: "2" }, creationTimestamp: null },
      spec: { containers: [{ name: "main", image: "example/app:1", resources: {} }], nodeName: undefined },
    },
  },
};

test("the data of a revision is the template with sorted keys", () => {
  assert.equal(
    JSON.stringify(templateData(owner as never)),
    '{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null,"labels":{"a":"2","b":"1"}},' +
      '"spec":{"containers":[{"image":"example/app:1","name":"main","resources":{}}]}}}}',
  );
});

test("revision data with another key order is equal", () => {
  const data = { spec: { template: { ...owner.spec.template, $patch: "replace" } } };
  assert.equal(hasData({ data } as never, templateData(owner as never)), true);
});
