// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.certificates.v1", group: "certificates", branded: true, version: "v1" });
