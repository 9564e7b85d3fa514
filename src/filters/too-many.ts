// The 429 response, with kube-apiserver's text.
import { type Reply, plainReply } from "#http";

const refused = plainReply(429, "Too many requests, please try again later.");

export const tooManyRequestsReply: Reply = {
  ...refused,
  headers: { ...refused.headers, "retry-after": "1" },
};
