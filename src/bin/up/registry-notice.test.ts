import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterView } from "#controllerkit";
import { noticeUnreachableRegistry } from "./registry-notice.ts";

type Listener = (event: { readonly type: string; readonly object: unknown }) => void;

const podWaiting = (reason: string, message: string) => ({
  metadata: { namespace: "default", name: "web" },
  status: {
    containerStatuses: [{ image: "registry.example/web:1", state: { waiting: { reason, message } } }],
  },
});

test("an unreachable registry is reported once, whichever pods need it", () => {
  const lines: string[] = [];
  let notify: Listener = () => undefined;
  const follow = (_kind: unknown, listener: Listener): void => {
    notify = listener;
  };
  noticeUnreachableRegistry({ follow } as unknown as ClusterView, (line) => lines.push(line));
  const offline = "dial tcp: lookup registry.example: no such host";
  notify({ type: "added", object: podWaiting("ContainerCreating", "") });
  notify({ type: "updated", object: podWaiting("ErrImagePull", "not found") });
  notify({ type: "deleted", object: podWaiting("ErrImagePull", offline) });
  assert.deepEqual(lines, []);
  notify({ type: "updated", object: podWaiting("ErrImagePull", offline) });
  notify({ type: "updated", object: podWaiting("ErrImagePull", offline) });
  assert.deepEqual(lines.length, 1);
  assert.match(lines[0]!, /^no registry can be reached: registry\.example\/web:1 cannot be pulled/);
});
