/** The parts of the console: the data planes of this process, and ports of its own routes. */
import type { Middleware } from 'koa';
import { ByteBudget } from '../../kernel/index.js';
import type {
  Clock,
  IdentityProviders,
  Log,
  ManagementAccess,
  ManagementControl,
  ManagementGrant,
  Random,
  Sealing,
} from '../../ports/index.js';
import { BuiltFiles } from '../http/built-files.js';
import type { BuiltPages } from '../http/built-pages.js';
import { ClientAddresses, type ProxyRange, RequestBodyReader } from '../http/index.js';
import type { Pages } from '../sessions/page-requests.js';
import { SealedSessions } from '../sessions/sealed-sessions.js';
import { type SignIns, UNGUARDED } from '../sign-in-guard.js';

export interface ConsoleParts {
  readonly access: ManagementAccess;
  readonly control: ManagementControl;
  /** Seals with the key file; called when a session begins or is opened. */
  readonly sealing: () => Sealing;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly publicUrls: { readonly search: string };
  /** They answer the call in `state.passed`, on the page's own context. */
  readonly planes: { readonly kv: Middleware; readonly queue: Middleware; readonly search: Middleware };
  /** Does a search command of this name change documents? */
  changesDocuments(command: string): boolean;
  /** A file of the built pages by its path in their folder; undefined if missing. */
  readFile(path: string): Promise<Buffer | undefined>;
  readonly sessionMs?: number | undefined;
  /** Default: failed sign-ins are neither slowed nor counted. */
  readonly signIns?: SignIns | undefined;
  readonly trustedProxies?: readonly ProxyRange[] | undefined;
  /** Default: no limit on the bytes that requests hold. */
  readonly budget?: ByteBudget | undefined;
  /** Cookies are sent only over TLS. */
  readonly isSecure: boolean;
  readonly isDraining: () => boolean;
  /** Default: people sign in with keys alone. */
  readonly providers?: IdentityProviders | undefined;
  /** Is this the operators' account? */
  isOperator(grant: ManagementGrant): boolean;
}

export class ConsoleEndpoint {
  readonly pages: Pages;
  readonly signIns: SignIns;
  readonly addresses: ClientAddresses;
  readonly bodies: RequestBodyReader;
  readonly built: BuiltPages;

  constructor(readonly parts: ConsoleParts) {
    const { publicUrls } = parts;
    this.pages = { sessions: new SealedSessions(parts), publicUrls };
    this.signIns = parts.signIns ?? UNGUARDED;
    this.addresses = new ClientAddresses(parts.trustedProxies ?? []);
    this.bodies = new RequestBodyReader(parts.budget ?? new ByteBudget(Number.POSITIVE_INFINITY));
    const files = new BuiltFiles((path) => parts.readFile(path));
    this.built = { kind: 'application', files, isDraining: parts.isDraining };
  }
}
