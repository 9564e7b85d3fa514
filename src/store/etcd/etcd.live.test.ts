import { after, before, test } from "node:test";
import { type EtcdCluster, needs, startEtcd } from "#kit";
import { storeContract } from "../store.contract.ts";
import { openEtcd } from "./etcd.ts";

const wanted = needs("etcd");
if (wanted.skip) test("a real etcd keeps the contract of a store", wanted, () => {});
else {
  let cluster: EtcdCluster;
  let opened = 0;
  before(async () => {
    cluster = await startEtcd();
  });
  after(() => cluster.stop());
  storeContract("etcd", async () =>
    openEtcd({ endpoints: cluster.endpoints, prefix: `/contract${++opened}` }),
  );
}
