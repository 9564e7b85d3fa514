// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.authorization.v1", group: "authorization", branded: true, version: "v1" });
