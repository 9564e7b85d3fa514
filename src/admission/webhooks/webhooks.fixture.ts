// Webhooks for tests, answered by functions.
import type { MutatingWebhook, ValidatingWebhook } from "#api";
import { createMetrics, silentLog, virtualClock } from "#base";
import { admissionExpressions } from "../expressions/expressions.ts";
import { webhookMetrics } from "./metrics.ts";
import type { PostReview } from "./transport.ts";

export interface Received {
  readonly path: string;
  readonly request: Record<string, unknown>;
}
export type Respond = (
  received: Received,
  times: number,
) => Record<string, unknown> | Error | { readonly status: number };

/** A server with webhooks by path, and the reviews they received. */
export function world(respond: Respond) {
  const received: Received[] = [];
  const post: PostReview = (client, body) => {
    const { url = "" } = client;
    const question = { path: new URL(url).pathname, request: body["request"] as Record<string, unknown> };
    const times = received.filter(({ path }) => path === question.path).length;
    received.push(question);
    const answer = respond(question, times);
    if (answer instanceof Error) return Promise.reject(answer);
    if ("status" in answer && typeof answer["status"] === "number")
      return Promise.resolve({ status: answer["status"], body: "{}" });
    const response = { uid: question.request["uid"], ...answer };
    const reply = { kind: "AdmissionReview", apiVersion: body["apiVersion"], response };
    return Promise.resolve({ status: 200, body: JSON.stringify(reply) });
  };
  const metrics = createMetrics();
  const options = {
    clock: virtualClock(),
    log: silentLog,
    metrics: webhookMetrics(metrics),
    registrationGroup: "admissionregistration.example",
    reviewGroup: "admission.example",
    failedOpenPrefix: "failed-open/",
    mutationPrefix: "mutation/",
    patchPrefix: "patch/",
    namespaceLabels: (name: string) => Promise.resolve(name === "n" ? { team: "a" } : undefined),
    expressions: admissionExpressions("orch"),
    conditions: true,
    decide: () => () => Promise.resolve({ allowed: true, reason: "" }),
    post,
  };
  return { received, options, metrics };
}

export const rule = {
  operations: ["*"],
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*/*"],
  scope: "*",
};

export const hook = (name: string, more: Partial<MutatingWebhook> = {}): MutatingWebhook => ({
  name: `${name}.example.com`,
  clientConfig: { url: `https://hook.example/${name}` },
  rules: [rule],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  failurePolicy: "Fail",
  matchPolicy: "Equivalent",
  ...more,
});

export const configurationOf = (webhooks: readonly ValidatingWebhook[], name = "c") =>
  ({ metadata: { name, creationTimestamp: null }, webhooks }) as never;

export const pod = () => ({ kind: "Pod", apiVersion: "v1", metadata: { name: "p", labels: { app: "web" } } });

export const patched = (...operations: object[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});
export const label = (name: string) => patched({ value: "1", path: `/metadata/labels/${name}`, op: "add" });
