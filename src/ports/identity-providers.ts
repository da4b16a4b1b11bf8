/**
 * Identity providers that sign people in (OpenID Connect). Every call to a provider is bounded in time and bytes.
 *
 *  IDP1 an identity comes from an id token with a checked signature, issuer, audience, time and nonce
 *  IDP2 no error and no log has a token, a code or the client's secret
 *  IDP3 an access token counts only with a checked signature, issuer, time, and this installation's resource as audience
 */

/** One provider, as the sign-in page shows it. */
export interface IdentityProvider {
  /** Part of paths: lower-case letters, digits and `-`. */
  readonly name: string;
  readonly label: string;
}

/** A sign-in that has begun: the browser goes to `url`, and the rest stays with the browser in sealed form. */
export interface BegunSignIn {
  readonly url: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface ProviderTokens {
  readonly access: string;
  readonly accessUntilMs: number;
  /** Undefined: the session ends with the access token. */
  readonly refresh?: string | undefined;
  /** Names the session at the provider's logout. */
  readonly id?: string | undefined;
  /** The groups are in answers of the userinfo endpoint, not only in id tokens. */
  readonly hasUserGroups: boolean;
}

export interface ProviderIdentity {
  readonly subject: string;
  /** In lower case; undefined if the provider gave none, or has not verified it. */
  readonly email: string | undefined;
  readonly groups: readonly string[];
  readonly tokens: ProviderTokens;
}

/** An access token that a provider has issued for a resource of this installation. */
export interface AccessIdentity {
  readonly provider: string;
  readonly subject: string;
  /** Undefined: the token has no verified address. */
  readonly email: string | undefined;
  /** Undefined: the token names no groups. */
  readonly groups: readonly string[] | undefined;
  readonly scopes: readonly string[];
  readonly untilMs: number;
}

/** A device that waits for a person who signs in at the provider with another one. */
export interface BegunDevice {
  readonly deviceCode: string;
  readonly userCode: string;
  /** The address that the person opens. */
  readonly url: string;
  readonly intervalMs: number;
  readonly untilMs: number;
}

export interface IdentityProviders {
  readonly all: readonly IdentityProvider[];
  /** @param returnTo  the callback's address. @throws NOT_FOUND, TIMED_OUT if the provider does not answer */
  begin(provider: string, returnTo: string): Promise<BegunSignIn>;
  /**
   * @param answered  the callback's address with the provider's answer
   * @throws NOT_FOUND, INVALID with the reason of a refusal, TIMED_OUT
   */
  finish(provider: string, answered: string, begun: Omit<BegunSignIn, 'url'>): Promise<ProviderIdentity>;
  /**
   * The person's present groups. @throws NOT_FOUND, INVALID if the provider no longer vouches for the session, TIMED_OUT
   */
  check(provider: string, subject: string, tokens: ProviderTokens): Promise<ProviderIdentity>;
  /** Where the browser ends the session at the provider; undefined if the provider has no such address. Never rejects. */
  logoutUrl(provider: string, tokens: ProviderTokens | undefined, returnTo: string): Promise<string | undefined>;
  /** @throws NOT_FOUND, INVALID if the provider offers no sign-in of devices, TIMED_OUT */
  beginDevice(provider: string): Promise<BegunDevice>;
  /** @returns undefined while the person has not decided. @throws as `finish` */
  finishDevice(provider: string, deviceCode: string): Promise<ProviderIdentity | undefined>;
  /** The addresses by which providers name themselves. */
  readonly issuers: readonly string[];
  /** IDP3. @throws INVALID with the reason, TIMED_OUT if the provider does not answer */
  identityOf(accessToken: string, resource: string): Promise<AccessIdentity>;
  /** The provider's description of itself (RFC 8414). @throws NOT_FOUND, TIMED_OUT */
  descriptionOf(provider: string): Promise<object>;
  /** The rules by which the groups of a provider give roles. */
  rolesOf(provider: string): readonly ProviderGroupRole[];
}

/** Members of the group have the role in the account. */
export interface ProviderGroupRole {
  /** `*`: all people of the provider. */
  readonly group: string;
  /** A built-in role except `owner`, or an own one of the account. */
  readonly role: string;
  /** Id or name of a team; undefined: the first account. */
  readonly account?: string | undefined;
  /** The id of the only resource that the role is for. */
  readonly on?: string | undefined;
}
