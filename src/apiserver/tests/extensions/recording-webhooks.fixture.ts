// A mutating and a validating webhook that are called for everything and record the reviews.
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, signServing } from "#authn";
import { eventually } from "#kit";
import { serve } from "../../server.fixture.ts";

type Json = Record<string, unknown>;

/** The part of a review that tests check. */
export interface RecordedRequest {
  readonly hook: "mutating" | "validating";
  readonly operation: string;
  readonly name?: string;
  readonly object: (Json & { metadata: Json }) | null;
  readonly oldObject: (Json & { metadata: Json }) | null;
  readonly options: Json | null;
}

interface Reply {
  readonly patch?: readonly object[];
}

/** Starts a server with such webhooks; `reply` determines the response of the mutating one. */
export async function recordReviews(
  t: { after(work: () => void): void },
  reply: (requested: RecordedRequest) => Reply = () => ({}),
) {
  const seen: RecordedRequest[] = [];
  const year = { now: Date.now(), days: 30 };
  const authority = createAuthority({ commonName: "hooks" }, year);
  const serving = signServing(authority, { commonName: "hook" }, ["127.0.0.1"], year);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const review = JSON.parse(text) as { request: RecordedRequest & { uid: string } } & Json;
    const hook = request.url?.startsWith("/mutating") ? "mutating" : "validating";
    const recorded = { ...review.request, hook } as const;
    seen.push(recorded);
    const patch = hook === "mutating" ? reply(recorded).patch : undefined;
    const patched = patch && {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
    };
    const { request: _request, ...head } = review;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ ...head, response: { uid: review.request.uid, allowed: true, ...patched } }),
    );
  };
  const hook = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    hook.closeAllConnections();
    hook.close();
  });
  const url = `https://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  const server = await serve();
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  const all = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"] };
  for (const kind of ["mutating", "validating"]) {
    const webhook = {
      name: `${kind}.example.com`,
      clientConfig: { url: `${url}/${kind}`, caBundle },
      rules: [all],
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
    };
    const path = `/apis/admissionregistration.orch.io/v1/${kind}webhookconfigurations`;
    await server.must(201, "POST", path, { body: { metadata: { name: kind }, webhooks: [webhook] } });
  }
  const probe = { body: { metadata: { name: "probe" } } };
  await eventually(async () => {
    await server.ask("POST", "/api/v1/namespaces/default/configmaps?dryRun=All", probe);
    return new Set(seen.map((requested) => requested.hook)).size === 2;
  });
  /** Returns the reviews that were sent during the work. */
  const during = async (work: () => Promise<unknown>): Promise<readonly RecordedRequest[]> => {
    seen.length = 0;
    await work();
    return [...seen];
  };
  return { ...server, during };
}
