/** The body of `rename-namespace`. */
import { IsBoolean } from 'class-validator';
import { checked, membersOf } from '../../http/checked.js';
import { IsIndexName } from './rules.js';

export class RenameIndexRequest {
  @IsIndexName()
  readonly namespace: string;

  @IsIndexName()
  readonly newNamespace: string;

  @IsBoolean()
  readonly deleteExisting: boolean;

  private constructor(members: ReadonlyMap<string, unknown>) {
    this.namespace = members.get('namespace') as string;
    this.newNamespace = members.get('newNamespace') as string;
    this.deleteExisting = (members.get('deleteExisting') ?? false) as boolean;
  }

  /** @throws Refused 400 */
  static from(body: unknown): RenameIndexRequest {
    return checked(new RenameIndexRequest(membersOf(body)));
  }
}
