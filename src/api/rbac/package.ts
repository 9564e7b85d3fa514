// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.rbac.v1", group: "rbac.authorization", branded: true, version: "v1" });
