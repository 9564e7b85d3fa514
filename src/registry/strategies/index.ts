// Every kind that is served, one line each.
import type { Strategy } from "../strategy.ts";
import { configMap } from "./config-map.ts";
import { endpoints } from "./endpoints.ts";
import { event } from "./event.ts";
import { lease } from "./lease.ts";
import { namespace } from "./namespace.ts";
import { clusterRoleBinding, roleBinding } from "./role-binding.ts";
import { clusterRole, role } from "./role.ts";
import { secret } from "./secret.ts";
import { serviceAccount } from "./service-account.ts";

export const builtInStrategies: readonly Strategy[] = [configMap, endpoints, lease, namespace, secret, serviceAccount, role, clusterRole, roleBinding, clusterRoleBinding];
