/** Rights, roles and their assignments as the management API shows them. */
import { IsArray, IsBoolean, IsInt, IsString } from 'class-validator';
import {
  ALL_RIGHTS,
  BUILT_IN_ROLES,
  type OwnRole,
  RIGHTS,
  type RoleAssignment,
} from '../../../domain/control/index.js';
import { unixSeconds } from '../../http/shapes.js';
import { rolesWith } from '../../team-permissions.js';

export class RightAnswer {
  @IsString() readonly right!: string;
  @IsString() readonly about!: string;
  /** The built-in roles with the right. */
  @IsArray() @IsString({ each: true }) readonly roles!: readonly string[];
}

export class RoleAnswer {
  @IsString() readonly name!: string;
  @IsString() readonly description!: string;
  @IsBoolean() readonly built_in!: boolean;
  @IsArray() @IsString({ each: true }) readonly rights!: readonly string[];
}

export class RoleAssignmentAnswer {
  @IsString() readonly assignment_id!: string;
  @IsString() readonly role!: string;
  /** Of a person; empty for a group. */
  @IsString() readonly email!: string;
  /** Of an identity provider; both are empty for a person. */
  @IsString() readonly provider!: string;
  @IsString() readonly group!: string;
  /** The only database, queue account or index; empty: the whole account. */
  @IsString() readonly resource_id!: string;
  @IsInt() readonly creation_time!: number;
}

export function rightAnswers(): readonly RightAnswer[] {
  return ALL_RIGHTS.map((right) => ({ right, about: RIGHTS[right], roles: rolesWith(right) }));
}

const BUILT_IN = Object.entries<readonly string[]>(BUILT_IN_ROLES);

export function roleAnswers(own: readonly OwnRole[]): readonly RoleAnswer[] {
  const builtIn = BUILT_IN.map(([name, rights]) => ({ name, description: '', built_in: true, rights }));
  return [...builtIn, ...own.map(roleAnswer)];
}

export function roleAnswer({ name, description, rights }: OwnRole): RoleAnswer {
  return { name, description, built_in: false, rights };
}

export function assignmentAnswer({ id, kind, subject, role, on, createdAtMs }: RoleAssignment): RoleAssignmentAnswer {
  const [provider = '', group = ''] = kind === 'group' ? split(subject) : [];
  return {
    assignment_id: id,
    role,
    email: kind === 'person' ? subject : '',
    provider,
    group,
    resource_id: on ?? '',
    creation_time: unixSeconds(createdAtMs),
  };
}

function split(subject: string): readonly [string, string] {
  const colon = subject.indexOf(':');
  return [subject.slice(0, colon), subject.slice(colon + 1)];
}
