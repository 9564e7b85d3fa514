import assert from "node:assert/strict";
import { test } from "node:test";
import { Deployment, Pod } from "./index.ts";
import { rewriter } from "./rewrite.ts";

test("shared declarations are visited once", () => {
  let requests = 0;
  const keeping = () =>
    rewriter({
      key: (key) => {
        requests++;
        return key;
      },
    });
  assert.equal(keeping()(Deployment), Deployment);
  const alone = requests;
  const rewrite = keeping();
  rewrite(Pod);
  requests = 0;
  assert.equal(rewrite(Deployment), Deployment);
  assert.ok(requests < alone / 2, `${requests} of ${alone} fields were looked at`);
});

test("changes below a declaration are found after its siblings were visited", () => {
  const rewrite = rewriter({ key: (key) => (key === "template" ? "pattern" : key) });
  assert.equal(rewrite(Pod), Pod);
  assert.ok(!("pattern" in Deployment.fields));
  assert.match(JSON.stringify(Object.keys(specOf(rewrite(Deployment)))), /"pattern"/);
});

test("a deeply nested change does not cause repeated visits of each level", () => {
  let requests = 0;
  const counting = (from: string, to: string) =>
    rewriter({
      key: (key) => {
        requests++;
        return key === from ? to : key;
      },
    });
  counting("", "")(Deployment);
  const all = requests;
  requests = 0;
  assert.notEqual(counting("preStop", "before")(Deployment), Deployment);
  // One visit to find changes, and one to rebuild the declarations that contain them.
  assert.ok(requests <= 2 * all, `${requests} questions for ${all} fields`);
});

function specOf(kind: typeof Deployment): object {
  const { shape } = kind.fields["spec"] as unknown as { shape: { fields: object } };
  return shape.fields;
}
