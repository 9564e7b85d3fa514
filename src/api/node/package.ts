// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.node.v1", group: "node", branded: true, version: "v1" });
