// The 429 response, with kube-apiserver's text.
import { type Reply, plainReply } from "#http";

const plain = plainReply(429, "Too many requests, please try again later.");

export const tooManyRequestsReply: Reply = {
  ...plain,
  headers: { ...plain.headers, "retry-after": "1" },
};
