// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.discovery.v1", group: "discovery", branded: true, version: "v1" });
