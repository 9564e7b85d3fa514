export {
  type Identity,
  type User,
  anonymousIdentity,
  anonymousName,
  authenticated,
  authenticatedGroup,
  isAnonymous,
  mastersGroup,
  monitoringGroup,
  nodesGroup,
  serviceAccountGroups,
  serviceAccountName,
  serviceAccountsGroup,
  splitServiceAccountName,
  unauthenticatedGroup,
} from "./user.ts";
export {
  type Authenticator,
  BadCredential,
  type Credentials,
  type MaybeIdentity,
  authenticatorOf,
  firstOf,
} from "./authenticator.ts";
export {
  type TokenMethod,
  audienceAgnostic,
  bearerToken,
  bearerTokens,
  identifyToken,
  hasExtraSpaces,
  protocolsWithoutToken,
  webSocketToken,
  webSocketTokens,
} from "./bearer-token.ts";
export { type TokenFile, parseTokenFile, tokenFile } from "./token-file.ts";
export {
  type FileTrustBundle,
  type TrustBundle,
  certificatesOf,
  trustBundle,
  trustBundleFile,
} from "./trust-bundle.ts";
export {
  type CertificateVerifier,
  type VerifiedCertificate,
  clientCertificateVerifier,
} from "./certificate-chain.ts";
export { type DerItem, certificateExtensions, derItems } from "./der.ts";
export {
  type CertificateRequest,
  parseCertificateRequest,
  requestedOrganizations,
} from "./certificate-request.ts";
export { createCertificateRequest } from "./create-request.ts";
export { certificateExpirationMetric, clientCertificates } from "./client-certificate.ts";
export { type RequestHeaderOptions, decodeKey, extraOf, requestHeaders } from "./request-header.ts";
export {
  type CertificatePair,
  type RequestedCertificate,
  type ServingNames,
  type Subject,
  type Validity,
  createAuthority,
  selfSigned,
  servingWithAuthority,
  signClient,
  signRequest,
  signServing,
  isPairKept,
  isPairUsable,
  writePair,
} from "./issue.ts";
export {
  type TokenAlgorithm,
  type TokenKey,
  publicKeyOf,
  signingKey,
  signingKeyOf,
  verificationKeys,
  verificationKeysOf,
} from "./service-account-keys.ts";
export {
  type ClusterClaim,
  type OpenIdDocuments,
  type OpenIdOptions,
  type TokenContents,
  type TokenFeatures,
  type TokenIssuer,
  type TokenRef,
  issueLegacyToken,
  issueServiceAccountToken,
  openIdDocuments,
  openIdMediaTypes,
  openIdPaths,
} from "./service-account-token.ts";
export {
  type LegacyTokenOptions,
  type ServiceAccountTokenOptions,
  type StoredObject,
  type TokenObjects,
  type TokenObserver,
  legacyServiceAccountTokens,
  serviceAccountTokens,
} from "./service-account.ts";
export { type TokenRequestResponse, type TokenRequestOptions, serveTokenRequest } from "./token-request.ts";
export { type SelfSubjectReview, reviewSelf, reviewToken, userInfo } from "./reviews.ts";
export { bootstrapTokens } from "./bootstrap-token.ts";
export { documentFetcher } from "./fetch-document.ts";
export { type ClaimMapping, plainMapping } from "./claims.ts";
export {
  type AnonymousRule,
  type AuthenticationConfiguration,
  type JwtIssuer,
  parseAuthenticationConfig,
} from "./authentication-config.ts";
export { type OidcOptions, oidcTokens } from "./oidc.ts";
export { cachedTokens } from "./token-cache.ts";
export { webhookTokens } from "./webhook-token.ts";
