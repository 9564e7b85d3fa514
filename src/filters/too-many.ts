// The answer to a request that is one too many, in the words of kube-apiserver.
import { type Reply, plainReply } from "#http";

const refused = plainReply(429, "Too many requests, please try again later.");

export const tooManyRequestsReply: Reply = {
  ...refused,
  headers: { ...refused.headers, "retry-after": "1" },
};
