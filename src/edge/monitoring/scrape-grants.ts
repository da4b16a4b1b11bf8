/** Whose numbers a monitoring token shows, looked up in this process's copy of the control state. Nothing is kept here. */
import { type Account, type ControlState, type Database, queueOwnerOf } from '../../domain/control/index.js';
import { type AccountId, MillraceError } from '../../kernel/index.js';
import { hashSecret } from '../../messages/index.js';

/** What a token shows: a database, or a queue with the databases of its owner. */
export interface ScrapeScope {
  readonly queue: Pick<Account, 'id' | 'name'> | undefined;
  readonly databases: readonly Pick<Database, 'id' | 'name'>[];
}

/** No account of the API has more databases than that. Each of them is a question to the statistics. */
const MAX_SCRAPED_DATABASES = 100;

export interface ScrapeView {
  readonly state: Pick<ControlState, 'scrapeTokens' | 'queueScrapeTokens' | 'live' | 'accounts' | 'databases'>;
  /** Has it heard from the control stream lately enough to know? */
  readonly isFresh: boolean;
}

/** Longer ones are nobody's; a token is looked up by its hash, which costs by length. */
const MAX_TOKEN_CHARACTERS = 512;

export class ScrapeGrants {
  constructor(private readonly view: ScrapeView) {}

  /** Undefined for an unknown token, and for one that was switched off. @throws CONTROL_STALE */
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
