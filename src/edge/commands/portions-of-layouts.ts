/**
 * The replies of a pipeline in portions, across a change of the database's layout: commands without a reply are sent to
 * the present partitions.
 *
 *  POR3 a portion is asked of the partitions of the grant that it is asked with
 */
import type { ErrorReply, Reply } from '../../domain/kv/index.js';
import type { KvGrant } from '../../ports/index.js';
import { bytesOfCommands } from './admission.js';
import { isClosed } from './layout-changes.js';
import type { AdmittedCommands, Portions, RequestDetails, RoutedReplies } from './portions.js';
import { MOVED } from './portions-of-several.js';

type MakePortions = (grant: KvGrant, admitted: AdmittedCommands) => Portions;

/** The router, as far as portions need it. */
export interface Rerouting {
  again<T>(failure: unknown, grant: KvGrant, run: (present: KvGrant) => Promise<T>): Promise<T>;
  withMoved(
    routed: RoutedReplies,
    grant: KvGrant,
    admitted: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies>;
}

export class PortionsOfLayouts implements Portions {
  #portions: Portions;
  #layout: KvGrant['partitions'];
  #answered = 0;

  constructor(
    private readonly router: Rerouting,
    grant: KvGrant,
    private readonly admitted: AdmittedCommands,
    private readonly make: MakePortions,
  ) {
    this.#layout = grant.partitions;
    this.#portions = make(grant, admitted);
  }

  get isOver(): boolean {
    return this.#portions.isOver;
  }

  async next(grant: KvGrant, details: RequestDetails): Promise<RoutedReplies> {
    try {
      return await this.#next(grant, details);
    } catch (failure) {
      if (!isClosed(failure)) throw failure;
      return this.router.again(failure, grant, (present) => this.#next(present, details));
    }
  }

  giveUp(refusal: ErrorReply): readonly Reply[] {
    return this.#portions.giveUp(refusal);
  }

  async #next(grant: KvGrant, details: RequestDetails): Promise<RoutedReplies> {
    if (grant.partitions[0] !== this.#layout[0]) {
      this.#layout = grant.partitions;
      this.#portions = this.make(grant, this.#remaining());
    }
    const routed = await this.#portions.next(grant, details);
    const { replies } = routed;
    const remaining = replies.includes(MOVED) ? this.#remaining() : undefined;
    this.#answered += replies.length;
    return remaining === undefined ? routed : this.router.withMoved(routed, grant, remaining, details);
  }

  #remaining(): AdmittedCommands {
    const { specs, commands } = this.admitted;
    const rest = commands.slice(this.#answered);
    return { specs: specs.slice(this.#answered), commands: rest, bytes: bytesOfCommands(rest) };
  }
}
