// kubectl's less common commands. They create objects of API groups whose names are built into kubectl: one
// dialect only. ORCH_TEST_KUBECTL selects a kubectl of another release; features that a release lacks are not
// tested.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  follow,
  freePort,
  kubectl,
  kubectlProgram,
  type KubectlResult,
  needs,
  programCommand,
  type RunningApiserver,
  startApiserver,
} from "#kit";
import { event, everyKind, pod, replicaSet, request } from "./kubectl-manifests.fixture.ts";

describe("kubectl's commands", needs(kubectlProgram, "openssl"), () => {
  let server: RunningApiserver;
  let namespaces = 0;
  let minor = 0;
  before(async () => {
    server = await startApiserver({
      dialect: "kubernetes",
      command: programCommand("orch-apiserver"),
      flags: ["--runtime-config=authentication.k8s.io/v1beta1=true"],
    });
    const { stdout } = await kubectl(server.kubeconfig, ["version", "--client", "-o", "json"]);
    minor = Number.parseInt(
      (JSON.parse(stdout) as { clientVersion: { minor: string } }).clientVersion.minor,
      10,
    );
  });
  after(() => server[Symbol.asyncDispose]());

  const home = async (): Promise<Home> => {
    const namespace = `test-${++namespaces}`;
    const run: Home["run"] = (args, input = "", env = {}) =>
      kubectl(server.kubeconfig, ["--namespace", namespace, ...args.split(" ")], { input, env });
    const good: Home["good"] = async (args, input, env) => {
      const result = await run(args, input, env);
      assert.equal(result.code, 0, `kubectl ${args}: ${result.stderr}\n${result.stdout}`);
      return result.stdout;
    };
    await good(`create namespace ${namespace}`);
    await good("create serviceaccount default");
    const value: Home["value"] = async (object, path) => {
      const result = await kubectl(server.kubeconfig, [
        "--namespace",
        namespace,
        "get",
        object,
        "-o",
        `jsonpath=${path}`,
      ]);
      assert.equal(result.code, 0, result.stderr);
      return result.stdout;
    };
    return { namespace, run, good, value };
  };
  const call = async (
    method: string,
    path: string,
    body: unknown,
    type = "application/merge-patch+json",
  ): Promise<void> => {
    const answer = await server.call(method, path, body, type);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.body}`);
  };

  test("create makes an object of every kind it knows", async () => {
    const { good, value } = await home();
    const file = (name: string, text: string): string => {
      writeFileSync(join(server.folder, name), text);
      return join(server.folder, name);
    };
    const settings = file("settings.env", "a=1\nb=2\n");
    const tag = `t${namespaces}`;
    const made: [since: number, words: string, object: string, path: string, expected: string][] = [
      [0, `configmap one --from-env-file=${settings}`, "cm/one", "{.data}", '{"a":"1","b":"2"}'],
      [0, `configmap two --from-file=${settings}`, "cm/two", "{.data.settings\\.env}", "a=1\nb=2\n"],
      [0, "secret generic s --from-literal=p=q", "secret/s", "{.type} {.data.p}", "Opaque cQ=="],
      [
        0,
        "secret docker-registry d --docker-server=r.test --docker-username=u --docker-password=p",
        "secret/d",
        "{.type}",
        "kubernetes.io/dockerconfigjson",
      ],
      [
        0,
        `secret tls t --cert=${server.folder}/server.crt --key=${server.folder}/server.key`,
        "secret/t",
        "{.type}",
        "kubernetes.io/tls",
      ],
      [0, "serviceaccount robot", "sa/robot", "{.metadata.name}", "robot"],
      [
        0,
        "role reader --verb=get,list --resource=pods,pods/log",
        "role/reader",
        "{.rules[0].verbs} {.rules[0].resources}",
        '["get","list"] ["pods","pods/log"]',
      ],
      [
        0,
        "rolebinding readers --role=reader --user=jane --serviceaccount=x:robot",
        "rolebinding/readers",
        "{.roleRef.name} {.subjects[*].name}",
        "reader jane robot",
      ],
      [
        0,
        `clusterrole ${tag} --verb=get --non-resource-url=/metrics`,
        `clusterrole/${tag}`,
        "{.rules[0].nonResourceURLs}",
        '["/metrics"]',
      ],
      [
        0,
        `clusterrole ${tag}-sum --aggregation-rule=x=y`,
        `clusterrole/${tag}-sum`,
        "{.aggregationRule.clusterRoleSelectors[0].matchLabels}",
        '{"x":"y"}',
      ],
      [
        0,
        `clusterrolebinding ${tag} --clusterrole=${tag} --group=g`,
        `clusterrolebinding/${tag}`,
        "{.subjects[0].kind}",
        "Group",
      ],
      [0, `priorityclass ${tag} --value=7 --description=d`, `priorityclass/${tag}`, "{.value}", "7"],
      [0, "quota q --hard=pods=9,cpu=2", "quota/q", "{.spec.hard}", '{"cpu":"2","pods":"9"}'],
      [
        25,
        "poddisruptionbudget p --selector=app=web --min-available=50%",
        "pdb/p",
        "{.spec.minAvailable}",
        "50%",
      ],
      [0, "service clusterip c --tcp=80:8080", "svc/c", "{.spec.ports[0].targetPort}", "8080"],
      [0, "service nodeport n --tcp=80", "svc/n", "{.spec.type}", "NodePort"],
      [0, "service loadbalancer l --tcp=80", "svc/l", "{.spec.type}", "LoadBalancer"],
      [0, "service externalname e --external-name=x.test", "svc/e", "{.spec.externalName}", "x.test"],
      [
        0,
        "ingress i --rule=h.test/p*=c:80",
        "ingress/i",
        "{.spec.rules[0].http.paths[0].backend.service.name}",
        "c",
      ],
      [
        0,
        "deployment d --image=example.com/a:1 --replicas=2 --port=80",
        "deployment/d",
        "{.spec.replicas} {.spec.strategy.type}",
        "2 RollingUpdate",
      ],
      [
        0,
        "job j --image=example.com/a:1 -- work hard",
        "job/j",
        "{.spec.template.spec.containers[0].command}",
        '["work","hard"]',
      ],
      [
        21,
        "cronjob cj --image=example.com/a:1 --schedule=@daily -- work",
        "cronjob/cj",
        "{.spec.schedule} {.spec.concurrencyPolicy}",
        "@daily Allow",
      ],
      [21, "job by-hand --from=cronjob/cj", "job/by-hand", "{.metadata.ownerReferences[0].name}", "cj"],
    ];
    for (const [since, words, object, path, expected] of made) {
      if (minor < since) continue;
      await good(`create ${words}`);
      assert.equal(await value(object, path), expected, words);
    }
  });

  test("describe prints every kind", async () => {
    const { good } = await home();
    await good("create -f -", everyKind);
    for (const line of (await good("get -f - -o name", everyKind)).trim().split("\n")) {
      assert.match(await good(`describe ${line}`), new RegExp(`^Name: +${line.split("/")[1]}$`, "m"), line);
      for (const output of ["wide", "yaml", "json"]) await good(`get ${line} -o ${output}`);
    }
    await good("delete -f - --wait=false", everyKind);
  });

  test("run, expose, scale, autoscale and set create and change objects", async () => {
    const { good, run, value } = await home();
    assert.match(
      await good("run web --image=example.com/a:1 --port=80 --expose --labels=app=web"),
      /service\/web created\npod\/web created/,
    );
    assert.equal(await value("svc/web", "{.spec.selector}"), '{"app":"web"}');
    await good("create deployment d --image=example.com/a:1");
    await good("expose deployment d --port=80 --target-port=8080 --name=front");
    assert.equal(await value("svc/front", "{.spec.selector}"), '{"app":"d"}');
    assert.equal(await good("scale deployment/d --replicas=4"), "deployment.apps/d scaled\n");
    assert.notEqual((await run("scale deployment/d --current-replicas=3 --replicas=5")).code, 0);
    await good("autoscale deployment d --min=2 --max=5 --cpu-percent=70");
    assert.match(
      await value("hpa/d", "{.spec.scaleTargetRef.kind} {.spec.minReplicas} {.spec.maxReplicas}"),
      /^Deployment 2 5$/,
    );
    await good("set image deployment/d a=example.com/a:2");
    await good("set env deployment/d WORD=hello");
    await good("set resources deployment/d --limits=cpu=200m,memory=64Mi");
    await good("set serviceaccount deployment d default");
    await good("set selector svc front x=y");
    const container =
      "{.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].env[0].value} {.spec.template.spec.containers[0].resources.limits.cpu}";
    assert.equal(await value("deployment/d", container), "4 example.com/a:2 hello 200m");
    assert.equal(
      await value("deployment/d", "{.metadata.generation} {.spec.template.spec.serviceAccountName}"),
      "6 default",
    );
    await good("create rolebinding b --clusterrole=view --user=jane");
    await good("set subject rolebinding b --user=joe");
    assert.equal(await value("rolebinding/b", "{.subjects[*].name}"), "jane joe");
  });

  test("a rollout is followed, listed, undone, paused, resumed and restarted", async () => {
    const { good, run, namespace, value } = await home();
    await good("create deployment d --image=example.com/a:1");
    const uid = await value("deployment/d", "{.metadata.uid}");
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/d`;
    for (const revision of [1, 2]) await good("create -f -", replicaSet(revision, uid));
    const done = {
      observedGeneration: 1,
      replicas: 1,
      updatedReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
    };
    const waiting = run("rollout status deployment/d --timeout=100s");
    await call("PATCH", `${path}/status`, { status: done });
    assert.match((await waiting).stdout, /successfully rolled out/);
    assert.match(await good("rollout history deployment/d"), /^1 [^]*^2 /m);
    assert.match(await good("rollout history deployment/d --revision=2"), /Image:\s+example\.com\/a:2/);
    assert.match(await good("rollout undo deployment/d --to-revision=2"), /rolled back/);
    assert.equal(await value("deployment/d", "{.spec.template.spec.containers[0].image}"), "example.com/a:2");
    await good("rollout pause deployment/d");
    assert.equal(await value("deployment/d", "{.spec.paused}"), "true");
    await good("rollout resume deployment/d");
    await good("rollout restart deployment/d");
    assert.match(await value("deployment/d", "{.spec.template.metadata.annotations}"), /restartedAt/);
  });

  test("nodes are tainted, cordoned and drained, within disruption budgets", async () => {
    const { good, run, namespace, value } = await home();
    const node = `node-${namespace}`;
    await good("create -f -", `apiVersion: v1\nkind: Node\nmetadata: { name: ${node} }\n`);
    await good(`taint node ${node} dedicated=x:NoSchedule`);
    assert.match(await value(`node/${node}`, "{.spec.taints}"), /"dedicated"/);
    await good(`taint node ${node} dedicated-`);
    await good(`cordon ${node}`);
    assert.equal(await value(`node/${node}`, "{.spec.unschedulable}"), "true");
    await good(`uncordon ${node}`);
    for (const name of ["a", "b"]) await good("create -f -", pod(name, `nodeName: ${node}, `));
    assert.match((await run(`drain ${node} --timeout=5s`)).stderr, /--force/);
    await good(`drain ${node} --force --grace-period=0 --timeout=100s`);
    assert.equal(await good("get pods -o name"), "");
    assert.equal(await value(`node/${node}`, "{.spec.unschedulable}"), "true");
    await good(`uncordon ${node}`);
    await good("create -f -", pod("kept", `nodeName: ${node}, `));
    await call("PATCH", `/api/v1/namespaces/${namespace}/pods/kept/status`, { status: { phase: "Running" } });
    await good(
      "create -f -",
      `apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: { name: keep }\nspec: { minAvailable: 1, selector: { matchLabels: { app: kept } } }\n`,
    );
    await call("PATCH", `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/keep/status`, {
      status: { observedGeneration: 1, disruptionsAllowed: 0 },
    });
    assert.match(
      (await run(`drain ${node} --force --grace-period=0 --timeout=1s`)).stderr,
      /disruption budget|global timeout/,
    );
    assert.equal(await good("get pods -o name"), "pod/kept\n");
  });

  test("auth reports and reconciles permissions", async () => {
    const { good, run, namespace } = await home();
    assert.equal(await good("auth can-i create pods"), "yes\n");
    assert.equal((await run("auth can-i delete nodes --as=jane")).stdout, "no\n");
    await good("create role r --verb=get --resource=pods");
    await good("create rolebinding b --role=r --user=jane");
    assert.equal(await good("auth can-i get pods --as=jane"), "yes\n");
    assert.equal(await good("auth can-i get pods/a --as=jane"), "yes\n");
    assert.match(await good("auth can-i --list --as=jane"), /^pods +\[\] +\[\] +\[get\]$/m);
    const role = `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: r, namespace: ${namespace} }\nrules: [{ apiGroups: [""], resources: [pods], verbs: [get, list] }]\n`;
    await good("auth reconcile -f -", role);
    assert.equal(await good("auth can-i list pods --as=jane"), "yes\n");
    if (minor >= 27)
      assert.match(
        await good(`auth whoami --as=system:serviceaccount:${namespace}:default`),
        new RegExp(`^Username +system:serviceaccount:${namespace}:default$`, "m"),
      );
  });

  test("create token gives a token that is accepted", async () => {
    const { good, namespace, value } = await home();
    const requestToken = (): Promise<string> =>
      good(
        `create --raw /api/v1/namespaces/${namespace}/serviceaccounts/default/token -f -`,
        '{"spec":{"expirationSeconds":3600}}',
      );
    const token =
      minor >= 24
        ? (await good("create token default --duration=1h")).trim()
        : (JSON.parse(await requestToken()) as { status: { token: string } }).status.token;
    const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as {
      sub: string;
      exp: number;
      iat: number;
    };
    assert.deepEqual(
      [claims.sub, claims.exp - claims.iat],
      [`system:serviceaccount:${namespace}:default`, 3600],
    );
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
    assert.match(
      (await server.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)).body,
      /"authenticated":true/,
    );
    await good("create secret generic s");
    if (minor < 24) return;
    await good(
      `create token default --bound-object-kind=Secret --bound-object-name=s --bound-object-uid=${await value("secret/s", "{.metadata.uid}")} --audience=x`,
    );
  });

  test("the cluster reports its version, health, dump and resources", async () => {
    const { good, run } = await home();
    assert.match(await good("cluster-info"), /control plane.* is running at /);
    assert.match(await good("version -o json"), /"serverVersion"/);
    assert.match(await good("get --raw /readyz?verbose"), /readyz check passed/);
    assert.match(await good("get --raw /api/v1/namespaces/default"), /"kind":"Namespace"/);
    assert.match(await good("get componentstatuses"), /etcd-0/);
    assert.match((await run("top nodes")).stderr, /Metrics API not available/);
    assert.match((await run("cluster-info dump")).stdout, /"kind": "NodeList"/);
    assert.match(
      await good("api-resources --api-group=apps -o wide"),
      /^statefulsets +sts +apps\/v1 +true +StatefulSet +\S*create/m,
    );
    assert.match(
      await good("api-resources --namespaced=false -o name"),
      /^clusterroles\.rbac\.authorization\.k8s\.io$/m,
    );
  });

  test("events are listed, by `kubectl events` in releases that have it, and followed", async () => {
    const { good, namespace } = await home();
    const words = minor >= 26 ? ["events"] : ["get", "events"];
    await good("create -f -", event(namespace, "first", "Warning"));
    assert.match(await good(words.join(" ")), /Warning +Happened +pod\/first +it did/i);
    if (minor >= 26) assert.match(await good("events --for pod/first --types=Warning"), /Pod\/first/);
    await using watch = follow(server.kubeconfig, ["-n", namespace, ...words, "--watch"]);
    await watch.until("od/first");
    await good("create -f -", event(namespace, "second", "Normal"));
    await watch.until("od/second");
  });

  test("subresources are read and patched", async () => {
    const { good, value, namespace } = await home();
    await good("create deployment d --image=example.com/a:1 --replicas=3");
    assert.match(
      await good(`get --raw /apis/apps/v1/namespaces/${namespace}/deployments/d/scale`),
      /"kind":"Scale".*"replicas":3/,
    );
    if (minor < 24) return;
    assert.equal(
      await good("get deployment d --subresource=scale -o jsonpath={.kind}/{.spec.replicas}"),
      "Scale/3",
    );
    await good('patch deployment d --subresource=scale --type=merge -p {"spec":{"replicas":2}}');
    await good('patch deployment d --subresource=status --type=merge -p {"status":{"replicas":2}}');
    assert.equal(await value("deployment/d", "{.spec.replicas} {.status.replicas}"), "2 2");
    assert.match(await good("get deployment d --subresource=status"), /^NAME/);
    await good("edit deployment d --subresource=status", "", {
      KUBE_EDITOR: "sed -i -e '/^status/,$s/replicas:.2/replicas: 1/'",
    });
    assert.equal(await value("deployment/d", "{.spec.replicas} {.status.replicas}"), "2 1");
  });

  test("requests for certificates are approved and denied", async () => {
    const { good, namespace, value } = await home();
    for (const [word, type] of [
      ["approve", "Approved"],
      ["deny", "Denied"],
    ] as const) {
      const name = `${namespace}-${word}`;
      await good(
        "create -f -",
        `apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: { name: ${name} }\nspec: { request: ${request}, signerName: example.com/s, usages: [client auth] }\n`,
      );
      await good(`certificate ${word} ${name}`);
      assert.equal(await value(`csr/${name}`, "{.status.conditions[0].type}"), type);
      assert.match(await good(`describe csr ${name}`), /Common Name: +jane/);
    }
  });

  test("wait supports conditions and, in newer releases, values and creation", async () => {
    const { good, run, namespace } = await home();
    await good("create -f -", pod("web"));
    const running = run(
      `wait pod/web --for=${minor >= 23 ? "jsonpath={.status.phase}=Running" : "condition=Ready"} --timeout=100s`,
    );
    await call("PATCH", `/api/v1/namespaces/${namespace}/pods/web/status`, {
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
    assert.equal((await running).stdout, "pod/web condition met\n");
    if (minor < 31) return;
    const created = run("wait configmap/late --for=create --timeout=100s");
    await good("create configmap late");
    assert.equal((await created).stdout, "configmap/late condition met\n");
  });

  test("delete orphans, deletes or waits for dependents, as requested", async () => {
    const { good, value } = await home();
    await good("create deployment d --image=example.com/a:1");
    await good("create -f -", replicaSet(1, await value("deployment/d", "{.metadata.uid}")));
    await good("delete deployment d --cascade=orphan --wait=false");
    assert.equal(await value("deployment/d", "{.metadata.finalizers}"), '["orphan"]');
    await good("delete deployment d --cascade=foreground --wait=false");
    assert.equal(await value("deployment/d", "{.metadata.finalizers}"), '["foregroundDeletion"]');
    await good("create configmap c");
    assert.equal(await good("delete configmap c --now"), 'configmap "c" deleted\n');
    assert.match(await good("delete pods,cm,secrets,deployments --all --dry-run=server"), /dry run/);
  });

  test("apply records and shows the last applied configuration, and prunes removed objects", async () => {
    const { good } = await home();
    const maps = (...names: string[]): string =>
      names
        .map(
          (name) =>
            `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, labels: { set: one } }\ndata: { a: "1" }\n`,
        )
        .join("---\n");
    await good("apply -f -", maps("a", "b"));
    assert.match(await good("apply view-last-applied cm/a"), /^ {2}a: "1"$/m);
    await good("apply set-last-applied -f -", maps("a"));
    const pruned = await good(
      `apply --prune -l set=one -f - --prune-${minor >= 26 ? "allow" : "white"}list=core/v1/ConfigMap`,
      maps("a"),
    );
    assert.match(pruned, /configmap\/b pruned/);
    writeFileSync(
      join(server.folder, "kustomization.yaml"),
      "configMapGenerator: [{ name: made, literals: [a=1] }]\n",
    );
    assert.match(await good(`apply -k ${server.folder}`), /configmap\/made-\w+ created/);
  });

  test("debug adds a container to a pod, and copies a pod", async () => {
    const { good, value } = await home();
    await good("create -f -", pod("web"));
    // Older releases use an API that no longer exists.
    if (minor >= 25) {
      await good("debug web --image=example.com/tools:1 --container=tools --attach=false -- sleep 9");
      assert.equal(
        await value("pod/web", "{.spec.ephemeralContainers[0].name} {.spec.ephemeralContainers[0].command}"),
        'tools ["sleep","9"]',
      );
    }
    await good(
      "debug web --copy-to=copy --set-image=web=example.com/web:9 --attach=false --image=example.com/tools:1 --container=tools",
    );
    assert.equal(
      await value("pod/copy", "{.spec.containers[*].image}"),
      "example.com/web:9 example.com/tools:1",
    );
  });

  test("proxy forwards requests", async () => {
    const port = await freePort();
    await using proxy = follow(server.kubeconfig, ["proxy", `--port=${port}`]);
    await proxy.until("Starting to serve");
    assert.match(
      await (await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default`)).text(),
      /"kind": ?"Namespace"/,
    );
  });
});

interface Home {
  readonly namespace: string;
  run(args: string, input?: string, env?: Readonly<Record<string, string>>): Promise<KubectlResult>;
  /** Runs kubectl, asserts success and returns its output. */
  good(args: string, input?: string, env?: Readonly<Record<string, string>>): Promise<string>;
  value(object: string, path: string): Promise<string>;
}
