import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "#dialect";
import { typeMismatch } from "./type-mismatch.ts";

const legacy = 'in scheme "pkg/api/legacyscheme/scheme.go:30"';
const cases: [sent: string, expected: string, message: string][] = [
  ["autoscaling/v2 HorizontalPodAutoscaler", "autoscaling/v1 HorizontalPodAutoscaler", "the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)"],
  ["extensions/v1beta1 Deployment", "apps/v1 Deployment", "the API version in the data (extensions/v1beta1) does not match the expected API version (apps/v1)"],
  ["authorization.k8s.io/v1beta1 SubjectAccessReview", "authorization.k8s.io/v1 SubjectAccessReview", "the API version in the data (authorization.k8s.io/v1beta1) does not match the expected API version (authorization.k8s.io/v1)"],
  ["v2 ConfigMap", "v1 ConfigMap", `ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" ${legacy}`],
  ["batch/v2alpha1 CronJob", "batch/v1 CronJob", `CronJob in version "v2alpha1" cannot be handled as a CronJob: no kind "CronJob" is registered for version "batch/v2alpha1" ${legacy}`],
  ["v1 Foo", "v1 ConfigMap", `Foo in version "v1" cannot be handled as a ConfigMap: no kind "Foo" is registered for version "v1" ${legacy}`],
  ["apps/v1 Deployment", "v1 ConfigMap", 'Deployment in version "v1" cannot be handled as a ConfigMap: converting (v1.Deployment) to (core.ConfigMap): unknown conversion'],
  ["v1 ConfigMapList", "v1 ConfigMap", 'ConfigMapList in version "v1" cannot be handled as a ConfigMap: converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion'],
  ["v1 Pod", "* DeleteOptions", 'no kind "Pod" is registered for version "v1" in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"'],
  ["v1 Pod", "apiextensions.k8s.io/v1 CustomResourceDefinition", 'Pod in version "v1" cannot be handled as a CustomResourceDefinition: no kind "Pod" is registered for version "v1" in scheme "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:56"'],
  ["v1 Pod", "apiregistration.k8s.io/v1 APIService", 'Pod in version "v1" cannot be handled as a APIService: no kind "Pod" is registered for version "v1" in scheme "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"'],
]; // prettier-ignore
const type = (text: string) => {
  const [apiVersion = "", kind = ""] = text.split(" ");
  return { apiVersion, kind };
};
for (const [sent, expected, message] of cases)
  test(`${sent} instead of ${expected}`, () =>
    assert.equal(typeMismatch(type(sent), type(expected), dialects.kubernetes).message, message));
