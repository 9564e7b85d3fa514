// AppArmor profiles as fields of pods (AppArmorFields, on from 1.30).
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, serve } from "../../server.fixture.ts";

const pods = "/api/v1/namespaces/default/pods";
const prefix = "container.apparmor.security.beta.orch.io/";
const flags = ["--release=1.30", "--disable-admission-plugins=ServiceAccount"];
let made = 0;
const pod = (profiles: { pod?: Json; container?: Json; annotation?: string }): Json => ({
  metadata: {
    name: `p${++made}`,
    ...(profiles.annotation !== undefined && { annotations: { [`${prefix}c`]: profiles.annotation } }),
  },
  spec: {
    ...(profiles.pod && { securityContext: { appArmorProfile: profiles.pod } }),
    containers: [
      {
        name: "c",
        image: "i",
        ...(profiles.container && { securityContext: { appArmorProfile: profiles.container } }),
      },
    ],
  },
});
const local = { type: "Localhost", localhostProfile: "mine" };
const aligned: [
  name: string,
  given: Parameters<typeof pod>[0],
  annotation: unknown,
  field: unknown,
  warned: boolean,
][] = [
  ["a field", { container: local }, "localhost/mine", local, false],
  ["a field of the pod", { pod: { type: "RuntimeDefault" } }, "runtime/default", undefined, false],
  ["an annotation", { annotation: "unconfined" }, "unconfined", { type: "Unconfined" }, true],
  ["both", { annotation: "localhost/mine", container: local }, "localhost/mine", local, false],
  [
    "an annotation like the field of the pod",
    { annotation: "runtime/default", pod: { type: "RuntimeDefault" } },
    "runtime/default",
    undefined,
    false,
  ],
  ["an empty annotation", { annotation: "" }, "", undefined, true],
];

test("a new pod gets whichever of field and annotation it lacks", async () => {
  const { must } = await serve({ flags });
  for (const [name, given, annotation, field, warned] of aligned) {
    const answer = await must(201, "POST", pods, { body: pod(given) });
    const { annotations } = answer.at("metadata") as { annotations?: Json };
    const found = answer.at("spec.containers.0.securityContext.appArmorProfile");
    assert.deepEqual([annotations?.[`${prefix}c`], found], [annotation, field], name);
    assert.equal(/deprecated since v1\.30/.test(String(answer.headers["warning"])), warned, name);
  }
});

const refusals: [given: Parameters<typeof pod>[0], message: RegExp][] = [
  [
    { container: { type: "Localhost" } },
    /localhostProfile: Required value: must be set when AppArmor type is Localhost/,
  ],
  [{ pod: { type: "Localhost", localhostProfile: " a" } }, /must not be padded with whitespace/],
  [{ pod: { type: "Unconfined", localhostProfile: "a" } }, /can only be set when AppArmor type is Localhost/],
  [{ container: { type: "Other" } }, /supported values: "Localhost", "RuntimeDefault", "Unconfined"/],
  [
    { container: local, annotation: "unconfined" },
    /type: Forbidden: apparmor type in annotation and field must match/,
  ],
  [
    { container: local, annotation: "localhost/other" },
    /localhostProfile: Forbidden: apparmor profile in annotation and field must match/,
  ],
];
test("profiles are validated, and must be those of annotations", async () => {
  const { must } = await serve({ flags });
  for (const [given, message] of refusals)
    assert.match(String((await must(422, "POST", pods, { body: pod(given) })).at("message")), message);
});

test("the baseline standard forbids the type Unconfined", async () => {
  const { must } = await serve({ flags });
  const labels = { "pod-security.orch.io/enforce": "baseline" };
  await must(201, "POST", "/api/v1/namespaces", { body: { metadata: { name: "strict", labels } } });
  const strict = "/api/v1/namespaces/strict/pods";
  const body = pod({ container: { type: "Unconfined" } });
  assert.match(
    String((await must(403, "POST", strict, { body })).at("message")),
    /forbidden AppArmor profiles \(container "c" and annotation must not set AppArmor profile type to "Unconfined", ".*c="unconfined""\)/,
  );
  await must(201, "POST", strict, { body: pod({ container: { type: "RuntimeDefault" } }) });
});

test("without the gate there are no such fields, and annotations stay alone", async () => {
  const { must } = await serve({ flags: flags.slice(1) });
  const field = await must(201, "POST", pods, { body: pod({ container: local }) });
  assert.equal(field.at("spec.containers.0.securityContext.appArmorProfile"), undefined);
  assert.equal(field.at("metadata.annotations"), undefined);
  const annotated = await must(201, "POST", pods, { body: pod({ annotation: "unconfined" }) });
  assert.equal(annotated.at("spec.containers.0.securityContext"), undefined);
  assert.equal(annotated.headers["warning"], undefined);
});
