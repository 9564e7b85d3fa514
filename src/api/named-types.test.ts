import assert from "node:assert/strict";
import { test } from "node:test";
import { type Message, decodeJson } from "#schema";
import * as api from "#api";

const wrong: [kind: Message, text: string, type: string][] = [
  [api.Pod, '{"status":{"phase":5}}', "v1.PodPhase"],
  [api.Pod, '{"metadata":{"uid":5}}', "types.UID"],
  [api.Pod, '{"spec":{"overhead":[]}}', "v1.ResourceList"],
  [api.Pod, '{"spec":{"containers":[{"securityContext":{"capabilities":{"add":"x"}}}]}}', "[]v1.Capability"],
  [api.Pod, '{"spec":{"containers":[{"securityContext":{"capabilities":{"add":[5]}}}]}}', "v1.Capability"],
  [api.Pod, '{"spec":{"containers":[{"image":5}]}}', "string"],
  [api.SubjectAccessReview, '{"spec":{"extra":[]}}', "map[string]v1.ExtraValue"],
  [api.SubjectAccessReview, '{"spec":{"extra":{"a":"x"}}}', "v1.ExtraValue"],
  [api.SubjectAccessReview, '{"spec":{"extra":{"a":[5]}}}', "string"],
  [api.HorizontalPodAutoscaler, '{"spec":{"metrics":[{"type":5}]}}', "v2.MetricSourceType"],
  [api.HorizontalPodAutoscaler, '{"spec":{"metrics":[{"resource":{"name":5}}]}}', "v1.ResourceName"],
]; // prettier-ignore
for (const [kind, text, type] of wrong)
  test(`${text} of a ${kind.name} is reported as not a ${type}`, () =>
    assert.throws(
      () => decodeJson(kind, text),
      ({ message }: Error) => message.endsWith(` of type ${type}`),
    ));
