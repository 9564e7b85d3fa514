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

test("that no registry can be reached is said once, whichever pods ask", () => {
  const lines: string[] = [];
  let tell: Listener = () => undefined;
  const follow = (_kind: unknown, listener: Listener): void => {
    tell = listener;
  };
  noticeUnreachableRegistry({ follow } as unknown as ClusterView, (line) => lines.push(line));
  const offline = "dial tcp: lookup registry.example: no such host";
  tell({ type: "added", object: podWaiting("ContainerCreating", "") });
  tell({ type: "updated", object: podWaiting("ErrImagePull", "not found") });
  tell({ type: "deleted", object: podWaiting("ErrImagePull", offline) });
  assert.deepEqual(lines, []);
  tell({ type: "updated", object: podWaiting("ErrImagePull", offline) });
  tell({ type: "updated", object: podWaiting("ErrImagePull", offline) });
  assert.deepEqual(lines.length, 1);
  assert.match(lines[0]!, /^no registry can be reached from here: registry\.example\/web:1 cannot be had/);
});
