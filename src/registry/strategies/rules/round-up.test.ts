import assert from "node:assert/strict";
import { test } from "node:test";
import { limitRange } from "../limit-range.ts";
import { persistentVolume } from "../persistent-volume.ts";
import { resourceQuota } from "../resource-quota.ts";
import { statefulSet } from "../stateful-set.ts";
import { defaulted } from "../strategy.fixture.ts";
import { volumeAttachment } from "../volume-attachment.ts";
import { persistentVolumeClaim } from "../volume-claim.ts";

const metadata = { name: "x" };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1n" } } };
const volume = { capacity: { storage: "1n" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } };
const source = { inlineVolumeSpec: volume };
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [] } };
const sets = { selector: {}, serviceName: "s", template, volumeClaimTemplates: [{ metadata, spec: claim }] };

const cases: [kind: string, shown: unknown][] = [
  ["a claim", defaulted(persistentVolumeClaim, { metadata, spec: claim })],
  ["a claim template of a stateful set", defaulted(statefulSet, { metadata, spec: sets })],
  ["a volume", defaulted(persistentVolume, { metadata, spec: volume })],
  ["a volume in an attachment", defaulted(volumeAttachment, { metadata, spec: { source } })],
  [
    "a limit range",
    defaulted(limitRange, { metadata, spec: { limits: [{ type: "Pod", max: { cpu: "1n" } }] } }),
  ],
  ["a quota", defaulted(resourceQuota, { metadata, spec: { hard: { "requests.cpu": "1n" } } })],
];
for (const [kind, object] of cases)
  test(`quantities below one thousandth are rounded up: ${kind}`, () => {
    const text = JSON.stringify(object);
    assert.ok(text.includes('"1m"') && !text.includes('"1n"'), text);
  });
