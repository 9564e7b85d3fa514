// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "orch-aggregator.pkg.apis.apiregistration.v1", group: "apiregistration", branded: true, version: "v1" });
