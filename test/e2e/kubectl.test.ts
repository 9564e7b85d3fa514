// kubectl's everyday commands against the server, in both dialects. ORCH_TEST_KUBECTL selects a kubectl of
// another release.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  follow,
  kubectl,
  kubectlProgram,
  type KubectlResult,
  needs,
  programCommand,
  type RunningApiserver,
  startApiserver,
  until,
} from "#kit";
import { configMap, labelledPod, warningEvent } from "./kubectl-manifests.fixture.ts";

for (const dialect of ["orch", "kubernetes"] as const) {
  describe(`kubectl with --dialect=${dialect}`, needs(kubectlProgram, "openssl"), () => {
    let server: RunningApiserver;
    let namespaces = 0;
    before(
      async () =>
        void (server = await startApiserver({ dialect, command: programCommand("orch-apiserver") })),
    );
    after(() => server[Symbol.asyncDispose]());

    /** Returns functions that run kubectl in a new namespace, one per test. */
    const home = async (): Promise<{ namespace: string; run: Run; good: Good }> => {
      const namespace = `test-${++namespaces}`;
      const run: Run = (args, input = "", env = {}) =>
        kubectl(server.kubeconfig, ["--namespace", namespace, ...args], { input, env });
      const good: Good = async (args, input, env) => {
        const result = await run(args, input, env);
        assert.equal(result.code, 0, `kubectl ${args.join(" ")}: ${result.stderr}\n${result.stdout}`);
        return result.stdout;
      };
      await good(["create", "namespace", namespace]);
      // No controllers run here: pods need the service account that a controller would create.
      await good(["create", "serviceaccount", "default"]);
      return { namespace, run, good };
    };
    /**
     * Waits until the resource has a watcher: a client that waits for a change must be watching before the
     * change.
     */
    const followed = async (resource: string): Promise<void> => {
      const open = new RegExp(
        `apiserver_longrunning_requests\\{.*resource="${resource}",.*verb="WATCH",.*\\} [1-9]`,
      );
      await until(`${resource} are watched`, async () =>
        open.test((await server.call("GET", "/metrics")).body),
      );
    };
    const valueOf = async (good: Good, object: string, path: string): Promise<string> =>
      await good(["get", object, "-o", `jsonpath=${path}`]);

    test("api-resources and api-versions list what is served", async () => {
      const { good } = await home();
      const resources = await good(["api-resources"]);
      assert.match(resources, /^configmaps +cm +v1 +true +ConfigMap$/m);
      assert.match(resources, /^namespaces +ns +v1 +false +Namespace$/m);
      assert.match(resources, /^pods +po +v1 +true +Pod$/m);
      assert.match(
        resources,
        dialect === "orch"
          ? /^events +ev +events\.orch\.io\/v1 +true +Event$/m
          : /^events +ev +events\.k8s\.io\/v1 +true +Event$/m,
      );
      assert.match(
        await good(["api-resources", "--verbs=deletecollection,watch", "-o", "name"]),
        /^configmaps$/m,
      );
      assert.match(await good(["api-versions"]), /^v1$/m);
    });

    test("get prints an object in every output format", async () => {
      const { good, namespace } = await home();
      await good(["create", "-f", "-"], configMap("greeting", { text: "hello" }));
      await good(["label", "configmap", "greeting", "tier=front"]);
      assert.match(await good(["get", "configmaps"]), /^NAME.*\n(.*\n)?greeting /);
      assert.match(await good(["get", "cm", "greeting", "--no-headers"]), /^greeting +1 +\d+s\n$/);
      assert.match(await good(["get", "cm", "greeting", "-o", "wide", "--show-labels"]), /tier=front/);
      assert.match(
        await good(["get", "cm", "greeting", "-o", "yaml"]),
        /^apiVersion: v1\ndata:\n {2}text: hello\nkind: ConfigMap\n/,
      );
      const read = JSON.parse(await good(["get", "cm", "greeting", "-o", "json"])) as {
        kind: string;
        data: unknown;
        metadata: { namespace: string };
      };
      assert.deepEqual(
        [read.kind, read.data, read.metadata.namespace],
        ["ConfigMap", { text: "hello" }, namespace],
      );
      assert.equal(await good(["get", "cm", "greeting", "-o", "name"]), "configmap/greeting\n");
      assert.equal(await valueOf(good, "cm/greeting", "{.data.text}"), "hello");
      assert.equal(await good(["get", "cm", "greeting", "-o", "go-template={{.metadata.name}}"]), "greeting");
      assert.match(
        await good(["get", "cm", "greeting", "-o", "custom-columns=N:.metadata.name,T:.data.text"]),
        /^N +T\ngreeting +hello\n$/,
      );
    });

    test("get selects, sorts, pages and lists all namespaces", async () => {
      const { good, namespace } = await home();
      const made = Array.from({ length: 7 }, (_, index) =>
        configMap(`item-${index}`, { n: String(9 - index) }, { parity: index % 2 ? "odd" : "even" }),
      );
      await good(["create", "-f", "-"], made.join("---\n"));
      const names = async (...args: string[]): Promise<string[]> =>
        (await good(["get", "cm", "-o", "name", ...args]))
          .split("\n")
          .filter(Boolean)
          .map((line) => line.replace("configmap/", ""));
      const all = ["item-0", "item-1", "item-2", "item-3", "item-4", "item-5", "item-6"];
      assert.deepEqual(await names(), all);
      assert.deepEqual(await names("--chunk-size=2"), all);
      assert.deepEqual(await names("-l", "parity=odd"), ["item-1", "item-3", "item-5"]);
      assert.deepEqual(await names("-l", "parity notin (odd)"), ["item-0", "item-2", "item-4", "item-6"]);
      assert.deepEqual(await names("--field-selector", "metadata.name=item-4"), ["item-4"]);
      assert.deepEqual(await names("--sort-by={.data.n}"), all.toReversed());
      assert.equal(
        (await good(["get", "cm", "-A", "--no-headers"]))
          .split("\n")
          .filter((line) => line.startsWith(namespace)).length,
        7,
      );
    });

    test("missing objects and kinds are reported", async () => {
      const { run } = await home();
      const { code, stderr } = await run(["get", "cm", "nobody"]);
      assert.deepEqual(
        { code, stderr },
        { code: 1, stderr: 'Error from server (NotFound): configmaps "nobody" not found\n' },
      );
      assert.match(
        (await run(["get", "unheardof"])).stderr,
        /the server doesn't have a resource type "unheardof"/,
      );
    });

    test("apply creates, changes, leaves unchanged, and removes omitted fields", async () => {
      const { good } = await home();
      assert.equal(
        await good(["apply", "-f", "-"], configMap("settings", { a: "1", b: "2" })),
        "configmap/settings created\n",
      );
      assert.equal(
        await good(["apply", "-f", "-"], configMap("settings", { a: "1", b: "2" })),
        "configmap/settings unchanged\n",
      );
      await good(["patch", "cm", "settings", "--type=merge", "-p", '{"data":{"other":"x"}}']);
      assert.equal(
        await good(["apply", "-f", "-"], configMap("settings", { a: "9" })),
        "configmap/settings configured\n",
      );
      assert.deepEqual(JSON.parse(await valueOf(good, "cm/settings", "{.data}")), { a: "9", other: "x" });
    });

    test("describe shows an object and the events about it", async () => {
      const { good, namespace } = await home();
      await good(["create", "-f", "-"], labelledPod("web"));
      const uid = await valueOf(good, "pod/web", "{.metadata.uid}");
      await good(["create", "-f", "-"], warningEvent(namespace, "web.1", uid));
      const text = await good(["describe", "pod", "web"]);
      assert.match(text, /^Name: +web$/m);
      assert.match(text, /^ +Image: +example\.com\/web:1$/m);
      assert.match(text, /Warning +Unlucky .*it went wrong/);
      await good(["create", "-f", "-"], configMap("plain", { k: "v" }));
      assert.match(await good(["describe", "cm", "plain"]), /k:\n----\nv/);
    });

    test("events are listed and selected", async () => {
      const { good, namespace } = await home();
      await good(
        ["create", "-f", "-"],
        `${warningEvent(namespace, "one.1", "1")}---\n${warningEvent(namespace, "two.1", "2", "Normal")}`,
      );
      assert.equal((await good(["get", "events", "--no-headers"])).trim().split("\n").length, 2);
      assert.equal(
        await good(["get", "events", "-o", "name", "--field-selector", "type=Normal"]),
        "event/two.1\n",
      );
      assert.equal(
        await good(["get", "events", "-o", "name", "--field-selector", "involvedObject.uid=1"]),
        "event/one.1\n",
      );
      const group = dialect === "orch" ? "events.v1.events.orch.io" : "events.v1.events.k8s.io";
      assert.equal(
        await good(["get", group, "one.1", "-o", "jsonpath={.note} {.regarding.name}"]),
        "it went wrong one",
      );
    });

    test("patch supports all three patch types", async () => {
      const { good, run } = await home();
      await good(["create", "-f", "-"], labelledPod("web"));
      const container = '{"spec":{"containers":[{"name":"web","image":"example.com/web:2"}]}}';
      assert.equal(await good(["patch", "pod", "web", "-p", container]), "pod/web patched\n");
      assert.equal(
        await valueOf(good, "pod/web", "{.spec.containers[*].image} {.spec.containers[0].args}"),
        'example.com/web:2 ["serve"]',
      );
      await good([
        "patch",
        "pod",
        "web",
        "--type=merge",
        "-p",
        '{"metadata":{"labels":{"tier":"front","app":null}}}',
      ]);
      await good([
        "patch",
        "pod",
        "web",
        "--type=json",
        "-p",
        '[{"op":"add","path":"/metadata/labels/x","value":"y"},{"op":"test","path":"/metadata/labels/tier","value":"front"}]',
      ]);
      assert.deepEqual(JSON.parse(await valueOf(good, "pod/web", "{.metadata.labels}")), {
        tier: "front",
        x: "y",
      });
      assert.equal(await good(["patch", "pod", "web", "-p", "{}"]), "pod/web patched (no change)\n");
      assert.equal(
        (
          await run([
            "patch",
            "pod",
            "web",
            "--type=json",
            "-p",
            '[{"op":"test","path":"/metadata/name","value":"z"}]',
          ])
        ).code,
        1,
      );
    });

    test("label and annotate add, refuse to overwrite without the flag, overwrite and remove", async () => {
      const { good, run } = await home();
      await good(["create", "-f", "-"], configMap("c", {}));
      for (const [verb, done, path] of [
        ["label", "labeled", "{.metadata.labels}"],
        ["annotate", "annotated", "{.metadata.annotations}"],
      ] as const) {
        // One release prints "annotate" instead of "annotated" here.
        assert.ok(
          [`configmap/c ${done}\n`, `configmap/c ${verb}\n`].includes(
            await good([verb, "cm", "c", "a=1", "b=2"]),
          ),
        );
        assert.match((await run([verb, "cm", "c", "a=3"])).stderr, /already has a value/);
        await good([verb, "cm", "c", "a=3", "b-", "--overwrite"]);
        assert.deepEqual(JSON.parse(await valueOf(good, "cm/c", path)), { a: "3" });
      }
    });

    test("edit writes the edited object back", async () => {
      const { good } = await home();
      await good(["create", "-f", "-"], configMap("c", { word: "before" }));
      assert.equal(
        await good(["edit", "cm", "c"], "", { KUBE_EDITOR: "sed -i s/before/afterwards/" }),
        "configmap/c edited\n",
      );
      assert.equal(await valueOf(good, "cm/c", "{.data.word}"), "afterwards");
    });

    test("replace requires the current resource version, unless the object has none", async () => {
      const { good, run } = await home();
      await good(["create", "-f", "-"], configMap("c", { a: "1" }));
      const old = await good(["get", "cm", "c", "-o", "yaml"]);
      assert.equal(await good(["replace", "-f", "-"], configMap("c", { a: "2" })), "configmap/c replaced\n");
      const refused = await run(["replace", "-f", "-"], old);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /Error from server \(Conflict\)/);
      const uid = await valueOf(good, "cm/c", "{.metadata.uid}");
      await good(["replace", "--force", "-f", "-"], configMap("c", { a: "3" }));
      assert.notEqual(await valueOf(good, "cm/c", "{.metadata.uid}"), uid);
    });

    test("delete waits for finalizers, unless disabled by its flag", async () => {
      const { good, run } = await home();
      await good(["create", "-f", "-"], configMap("held", {}));
      await good([
        "patch",
        "cm",
        "held",
        "--type=merge",
        "-p",
        '{"metadata":{"finalizers":["example.com/hold"]}}',
      ]);
      assert.equal(await good(["delete", "cm", "held", "--wait=false"]), 'configmap "held" deleted\n');
      assert.notEqual(await valueOf(good, "cm/held", "{.metadata.deletionTimestamp}"), "");
      const waiting = run(["delete", "cm", "held", "--timeout=100s"]);
      await followed("configmaps");
      await good([
        "patch",
        "cm",
        "held",
        "--type=json",
        "-p",
        '[{"op":"remove","path":"/metadata/finalizers"}]',
      ]);
      assert.equal((await waiting).code, 0);
      assert.equal((await run(["get", "cm", "held"])).code, 1);
      assert.equal((await run(["delete", "cm", "held"])).code, 1);
      await good(["delete", "cm", "held", "--ignore-not-found"]);
    });

    test("delete supports selectors and --all", async () => {
      const { good } = await home();
      await good(
        ["create", "-f", "-"],
        [
          configMap("a", {}, { go: "yes" }),
          configMap("b", {}, { go: "yes" }),
          configMap("c", {}),
          configMap("d", {}),
        ].join("---\n"),
      );
      assert.equal((await good(["delete", "cm", "-l", "go=yes"])).split("\n").length, 3);
      assert.equal((await good(["delete", "cm", "--all"])).split("\n").length, 3);
      assert.equal(await good(["get", "cm", "-o", "name"]), "");
    });

    test("get --watch prints changes as they happen", async () => {
      const { good, namespace } = await home();
      await good(["create", "-f", "-"], configMap("seen", {}));
      await using watch = follow(server.kubeconfig, [
        "--namespace",
        namespace,
        "get",
        "cm",
        "--watch",
        "--output-watch-events",
        "--no-headers",
      ]);
      await watch.until("seen");
      await good(["label", "cm", "seen", "a=b"]);
      await watch.until("MODIFIED");
      await good(["create", "-f", "-"], configMap("later", {}));
      await watch.until("later");
      await good(["delete", "cm", "seen"]);
      const words = (await watch.until("DELETED"))
        .split("\n")
        .map((line) => line.split(/ +/).slice(0, 2).join(" "));
      assert.deepEqual(words.filter(Boolean), ["ADDED seen", "MODIFIED seen", "ADDED later", "DELETED seen"]);
    });

    test("apply --server-side tracks the owners of fields", async () => {
      const { good, run } = await home();
      const apply = (
        manager: string,
        data: Record<string, string>,
        ...more: string[]
      ): Promise<KubectlResult> =>
        run(
          ["apply", "--server-side", `--field-manager=${manager}`, ...more, "-f", "-"],
          configMap("shared", data),
        );
      const first = await apply("ours", { a: "1", b: "1" });
      assert.deepEqual([first.code, first.stdout], [0, "configmap/shared serverside-applied\n"]);
      assert.equal((await apply("theirs", { c: "1" })).code, 0);
      const refused = await apply("theirs", { a: "2", c: "1" });
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /conflict.*"ours".*\.data\.a/s);
      assert.equal((await apply("theirs", { a: "2", c: "1" }, "--force-conflicts")).code, 0);
      assert.equal((await apply("ours", {})).code, 0);
      assert.deepEqual(JSON.parse(await valueOf(good, "cm/shared", "{.data}")), { a: "2", c: "1" });
    });

    test("wait ends when the condition holds and when the object is deleted", async () => {
      const { good, run, namespace } = await home();
      await good(["create", "-f", "-"], labelledPod("web"));
      assert.match(
        (await run(["wait", "pod/web", "--for=condition=Ready", "--timeout=1s"])).stderr,
        // A timeout before the first response is reported as an error of the request.
        /timed out waiting|context deadline exceeded/,
      );
      const waiting = run(["wait", "pod/web", "--for=condition=Ready", "--timeout=100s"]);
      const status = { status: { conditions: [{ type: "Ready", status: "True" }] } };
      const patched = await server.call(
        "PATCH",
        `/api/v1/namespaces/${namespace}/pods/web/status`,
        status,
        "application/merge-patch+json",
      );
      assert.equal(patched.status, 200, patched.body);
      assert.equal((await waiting).stdout, "pod/web condition met\n");
      const gone = run(["wait", "pod/web", "--for=delete", "--timeout=100s"]);
      await followed("pods");
      await good(["delete", "pod", "web", "--grace-period=0", "--force"]);
      assert.equal((await gone).code, 0);
    });

    test("a file that violates the schema is rejected by name", async () => {
      const { run } = await home();
      const wrongType = await run(
        ["create", "--validate=false", "-f", "-"],
        `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\ndata: [1]\n`,
      );
      assert.equal(wrongType.code, 1);
      assert.match(wrongType.stderr, /Error from server \(BadRequest\)/);
      const badName = await run(["create", "-f", "-"], configMap("No_Good", {}));
      assert.match(badName.stderr, /metadata\.name: Invalid value: "No_Good"/);
    });

    test("a folder of files is applied and deleted together", async () => {
      const { good } = await home();
      writeFileSync(
        join(server.folder, "a.yaml"),
        `${configMap("a", { x: "1" })}---\n${configMap("b", { x: "1" })}`,
      );
      assert.equal(
        await good(["apply", "-f", join(server.folder, "a.yaml")]),
        "configmap/a created\nconfigmap/b created\n",
      );
      assert.equal(
        await good(["delete", "-f", join(server.folder, "a.yaml")]),
        'configmap "a" deleted\nconfigmap "b" deleted\n',
      );
    });

    test("a dry run changes nothing", async () => {
      const { good, run } = await home();
      assert.equal(
        await good(["apply", "--dry-run=server", "-f", "-"], configMap("ghost", { a: "1" })),
        "configmap/ghost created (server dry run)\n",
      );
      assert.equal((await run(["get", "cm", "ghost"])).code, 1);
    });

    test("diff shows what apply would change", async () => {
      const { good, run } = await home();
      await good(["apply", "-f", "-"], configMap("c", { a: "1" }));
      assert.equal((await run(["diff", "-f", "-"], configMap("c", { a: "1" }))).code, 0);
      const changed = await run(["diff", "-f", "-"], configMap("c", { a: "2" }));
      assert.equal(changed.code, 1);
      assert.match(changed.stdout, /^- {2}a: "1"$[^]*^\+ {2}a: "2"$/m);
      assert.equal(await valueOf(good, "cm/c", "{.data.a}"), "1");
    });

    test("explain describes kinds and fields", async () => {
      const { good, run } = await home();
      // Newer releases support both schema formats, older ones only one.
      const ways = (await run(["explain", "--help"])).stdout.includes("plaintext-openapiv2")
        ? [[], ["--output=plaintext-openapiv2"]]
        : [[]];
      for (const way of ways) {
        assert.match(
          await good(["explain", "configmap", ...way]),
          /^KIND: +ConfigMap\nVERSION: +v1\n[^]*^ {2,3}binaryData\t<map\[string\]string>$/m,
        );
        assert.match(
          await good(["explain", "pod.spec.containers.image", ...way]),
          /^FIELD: +image <string>$/m,
        );
        assert.match(
          await good(["explain", "pod", "--recursive", ...way]),
          /^ {6,9}livenessProbe\t<(Object|Probe)>$/m,
        );
      }
    });

    test("create checks a file against the published schema", async () => {
      const { run } = await home();
      const { code, stderr } = await run(["create", "-f", "-"], `${configMap("c", {})}dada: {}\n`);
      assert.equal(code, 1);
      assert.match(stderr, /unknown field "dada"/);
    });
  });
}

type Arguments = [args: readonly string[], input?: string, env?: Readonly<Record<string, string>>];
type Run = (...given: Arguments) => Promise<KubectlResult>;
type Good = (...given: Arguments) => Promise<string>;
