import assert from "node:assert/strict";
import { test } from "node:test";
import { eventOf } from "./audit.fixture.ts";
import { eventListText, eventText, legacyText } from "./event-text.ts";

test("an event has its fields in the order of the reference", () => {
  const event = eventOf({
    user: { name: "ann", uid: "u", groups: ["dev"], extra: { scope: ["a"] } },
    impersonatedUser: { name: "bob", groups: [] },
    object: {
      fromPath: false,
      resource: "pods",
      namespace: "n",
      name: "",
      uid: "",
      apiGroup: "",
      apiVersion: "v1",
      resourceVersion: "",
      subresource: "",
    },
    responseStatus: {
      status: "Failure",
      reason: "NotFound",
      message: 'no "p"',
      details: { name: "p" },
      code: 404,
    },
    requestObject: '{"a":1}',
    responseObject: '{"b":12345678901234567890}',
    annotations: [
      ["z", "1"],
      ["a", "2"],
    ],
  });
  assert.equal(
    eventText(event, "g/v1"),
    '{"kind":"Event","apiVersion":"g/v1","level":"Metadata","auditID":"id-1","stage":"ResponseComplete",' +
      '"requestURI":"/api/v1/pods?limit=5","verb":"list",' +
      '"user":{"username":"ann","uid":"u","groups":["dev"],"extra":{"scope":["a"]}},' +
      '"impersonatedUser":{"username":"bob"},"sourceIPs":["10.0.0.1"],"userAgent":"test/1",' +
      '"objectRef":{"resource":"pods","namespace":"n","apiVersion":"v1"},' +
      '"responseStatus":{"metadata":{},"status":"Failure","message":"no \\"p\\"","reason":"NotFound","details":{"name":"p"},"code":404},' +
      '"requestObject":{"a":1},"responseObject":{"b":12345678901234567890},' +
      '"requestReceivedTimestamp":"2024-01-02T03:04:05.678000Z","stageTimestamp":"2024-01-02T03:04:05.679000Z",' +
      '"annotations":{"a":"2","z":"1"}}',
  );
});

const objects: [name: string, requestUri: string, name: string, fromPath: boolean][] = [
  ["identical to the path", "/api/v1/namespaces/n/pods/p", "p", true],
  ["decoded from the path", "/api/v1/namespaces/n/pods/%22p%22%0A", '"p"\n', true],
  ["sent in the body", "/api/v1/namespaces/n/pods", 'p"', false],
];
for (const [name, requestUri, objectName, fromPath] of objects)
  test(`the name of an object is escaped if necessary: ${name}`, () => {
    const object = {
      fromPath,
      resource: "pods",
      namespace: "n",
      name: objectName,
      uid: "",
      apiGroup: "",
      apiVersion: "v1",
      resourceVersion: "",
      subresource: "status",
    };
    const { objectRef } = JSON.parse(eventText(eventOf({ requestUri, object }), "g/v1")) as {
      objectRef: unknown;
    };
    assert.deepEqual(objectRef, {
      resource: "pods",
      namespace: "n",
      name: objectName,
      apiVersion: "v1",
      subresource: "status",
    });
  });

test("clients, users and annotations may contain any characters", () => {
  const odd = 'a"b\\c\u2028\u0001é';
  const event = eventOf({
    auditId: odd,
    verb: odd,
    user: { name: odd, groups: [odd] },
    client: { sourceIps: [], userAgent: odd },
    annotations: [[odd, odd]],
  });
  const { auditID, verb, user, userAgent, sourceIPs, annotations } = JSON.parse(
    eventText(event, "g/v1"),
  ) as Record<string, unknown>;
  assert.deepEqual(
    { auditID, verb, user, userAgent, sourceIPs, annotations },
    {
      auditID: odd,
      verb: odd,
      user: { username: odd, groups: [odd] },
      userAgent: odd,
      sourceIPs: undefined,
      annotations: { [odd]: odd },
    },
  );
});

test("items of a list carry no type header", () => {
  const list = JSON.parse(eventListText([eventOf(), eventOf({ user: undefined })], "g/v1")) as {
    kind: string;
    items: Record<string, unknown>[];
  };
  assert.equal(list.kind, "EventList");
  assert.deepEqual(
    list.items.map(({ kind, user }) => [kind, user]),
    [
      [undefined, { username: "ann", groups: ["dev"] }],
      [undefined, {}],
    ],
  );
});

test("the legacy format is a line of quoted values", () => {
  assert.equal(
    legacyText(eventOf({ responseStatus: { code: 200 } })),
    '2024-01-02T03:04:05.678000Z AUDIT: id="id-1" stage="ResponseComplete" ip="10.0.0.1" method="list" ' +
      'user="ann" groups="dev" as="<self>" asgroups=<lookup> user-agent="test/1" namespace="<none>" ' +
      'uri="/api/v1/pods?limit=5" response="200"',
  );
  assert.match(
    legacyText(eventOf({ user: undefined, impersonatedUser: { name: "bob", groups: ["a", "b"] } })),
    /user="<none>" groups=<none> as="bob" asgroups="a","b" .* response="<deferred>"$/,
  );
});
