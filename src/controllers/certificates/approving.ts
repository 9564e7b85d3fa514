// Approves node client certificate requests whose author is authorized to request them.
import { timeOfMillis } from "#base";
import { kinds } from "#client";
import { type Controller, type ControllerContext, ignoreReasons, queueFor } from "#controllerkit";
import { type SeenRequest, decoded, isDecided, nodeClientProblem } from "./requests.ts";

export function csrApprovingController(context: ControllerContext): Controller {
  const { client, clock, view, dialect } = context;
  const resource = client.of(kinds.certificateSigningRequests);
  const queue = queueFor(context, "certificate_approving", sync);
  const requests = view.follow(kinds.certificateSigningRequests, ({ type, object }) => {
    if (type !== "deleted" && !isDecided(object) && !object.status.certificate)
      queue.add(object.metadata.name!);
  });
  return { stopped: queue.stopped };

  async function sync(name: string): Promise<void> {
    const request = requests.get(undefined, name);
    if (!request || isDecided(request) || request.spec.signerName !== dialect.names.signers.agentClient)
      return;
    const decodedRequest = decoded(request);
    const { usages = [], username } = request.spec;
    if (!decodedRequest.isSigned || nodeClientProblem(decodedRequest, usages) !== undefined) return;
    const subresources = [
      ...(username === decodedRequest.commonName ? ["selfnodeclient"] : []),
      "nodeclient",
    ];
    for (const subresource of subresources) {
      if (!(await isAuthorized(request, subresource))) continue;
      const prefix = subresource === "nodeclient" ? "" : "self ";
      await approve(
        request,
        `Auto approving ${prefix}${dialect.cli.agent} client certificate after SubjectAccessReview.`,
      );
      return;
    }
    throw new Error("recognized csr as a node client request but subject access review was not approved");
  }

  async function isAuthorized({ spec }: SeenRequest, subresource: string): Promise<boolean> {
    const { username, groups, uid, extra } = spec;
    const review = await client.of(kinds.subjectAccessReviews).create({
      metadata: {},
      spec: {
        ...(username && { user: username }),
        ...(groups && { groups }),
        ...(uid && { uid }),
        ...(extra && { extra }),
        resourceAttributes: {
          group: `certificates.${dialect.wire.groupSuffix}`,
          resource: "certificatesigningrequests",
          verb: "create",
          subresource,
          version: "*",
        },
      },
    });
    return review.status.allowed;
  }

  async function approve(request: SeenRequest, message: string): Promise<void> {
    const now = timeOfMillis(clock.now());
    const condition = {
      type: "Approved",
      status: "True",
      reason: "AutoApproved",
      message,
      lastUpdateTime: now,
      lastTransitionTime: now,
    };
    const conditions = [...(request.status.conditions ?? []), condition];
    await ignoreReasons(
      ["NotFound"],
      resource.update({ ...request, status: { ...request.status, conditions } }, { subresource: "approval" }),
    );
  }
}
