// Approves node serving certificates for names and addresses of the node's status. Not one of the default
// controllers: an operator who joins machines with bootstrap tokens decides whether nodes are trusted with
// their addresses.
import { timeOfMillis } from "#base";
import { kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";
import { decoded, isDecided, nodeServingProblem } from "./requests.ts";

export function servingApprovalController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const queue = queueFor(context, "serving_approval", sync, { maxDelayMilliseconds: 10_000 });
  const requests = view.follow(kinds.certificateSigningRequests, ({ type, object }) => {
    if (type !== "deleted" && !isDecided(object)) queue.add(object.metadata.name!);
  });
  const nodes = view.follow(kinds.nodes);
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const request = requests.get(undefined, name);
    if (!request || isDecided(request) || request.spec.signerName !== dialect.names.signers.agentServing)
      return;
    const decodedRequest = decoded(request);
    const { usages = [], username } = request.spec;
    if (!decodedRequest.isSigned || nodeServingProblem(decodedRequest, usages) !== undefined) return;
    if (username !== decodedRequest.commonName) return;
    const node = nodes.get(undefined, decodedRequest.commonName.slice("system:node:".length));
    const nodeSans = new Set([
      node?.metadata.name,
      ...(node?.status?.addresses ?? []).map(({ address }) => address),
    ]);
    if (![...decodedRequest.dnsNames, ...decodedRequest.ipAddresses].every((each) => nodeSans.has(each)))
      throw new Error("the node does not have all names and addresses that its certificate would have");
    const now = timeOfMillis(clock.now());
    const condition = {
      type: "Approved",
      status: "True",
      reason: "AutoApproved",
      message: "The names and addresses are the node's own.",
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    const conditions = [...(request.status.conditions ?? []), condition];
    await ignoreReasons(
      ["NotFound"],
      client
        .of(kinds.certificateSigningRequests)
        .update({ ...request, status: { ...request.status, conditions } }, { subresource: "approval" }),
    );
  }
}
