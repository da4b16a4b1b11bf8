/** Finds the database or account of a monitoring token in this process's copy of the control state. */
import { type Account, type ControlState, type Database, queueOwnerOf } from '../../domain/control/index.js';
import { type AccountId, MillraceError } from '../../kernel/index.js';
import { hashSecret } from '../../protocol/index.js';

/** The scope of a token: a database, or a queue with the databases of its owner. */
export interface ScrapeScope {
  readonly queue: Pick<Account, 'id' | 'name'> | undefined;
  readonly databases: readonly Pick<Database, 'id' | 'name'>[];
}

/** The maximum of databases that the API allows per account. Each needs a request to the statistics. */
const MAX_SCRAPED_DATABASES = 100;

export interface ScrapeView {
  readonly state: Pick<ControlState, 'scrapeTokens' | 'queueScrapeTokens' | 'live' | 'accounts' | 'databases'>;
  /** Has the copy received the control stream recently? */
  readonly isFresh: boolean;
}

/** No valid token is longer; the lookup hashes it, and the cost grows with its length. */
const MAX_TOKEN_CHARACTERS = 512;

export class ScrapeGrants {
  constructor(private readonly view: ScrapeView) {}

  /** Undefined for an unknown or disabled token. @throws CONTROL_STALE */
  scopeOf(token: string): ScrapeScope | undefined {
    const { state, isFresh } = this.view;
    if (!isFresh) throw new MillraceError('CONTROL_STALE', 'no word from the control stream');
    if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
    const sha256 = hashSecret(token);
    const id = state.scrapeTokens.get(sha256);
    const database = id === undefined ? undefined : state.live(id);
    if (database !== undefined) return { queue: undefined, databases: [database] };
    const queue = state.accounts.get(state.queueScrapeTokens.get(sha256) as AccountId);
    if (queue === undefined) return undefined;
    const owner = queueOwnerOf(queue);
    const databases = [...state.databases.values()].filter(
      ({ account, deletedAtMs }) => account === owner && deletedAtMs === undefined,
    );
    return { queue, databases: databases.slice(0, MAX_SCRAPED_DATABASES) };
  }
}
