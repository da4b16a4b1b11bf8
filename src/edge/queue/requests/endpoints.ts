/** `POST` and `DELETE /v2/topics/<name>/endpoints`: adds endpoints to a group or removes them. */
import { ArrayNotEmpty, IsArray, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import { MAX_QUEUE_NAME_CHARACTERS, MAX_URL_BYTES } from '../../../domain/queue/index.js';
import { checked, membersOf } from '../../http/checked.js';
import { invalid } from '../../http/refused.js';

class EndpointRequest {
  @IsOptional()
  @MaxLength(MAX_URL_BYTES)
  @IsString()
  readonly url: string | undefined;

  @IsOptional()
  @MaxLength(MAX_QUEUE_NAME_CHARACTERS)
  @IsString()
  readonly name: string | undefined;

  constructor(item: unknown) {
    const members = membersOf(item, 'an endpoint');
    // A null member or an empty name counts as missing.
    this.url = (members.get('url') ?? undefined) as string | undefined;
    this.name = (members.get('name') || undefined) as string | undefined;
  }
}

export class EndpointsRequest {
  @ValidateNested()
  @ArrayNotEmpty()
  @IsArray()
  readonly endpoints: readonly EndpointRequest[];

  private constructor(given: unknown) {
    this.endpoints = Array.isArray(given) ? given.map((item) => new EndpointRequest(item)) : (given as []);
  }

  /** @throws Refused 400 */
  static from(body: unknown): EndpointsRequest {
    return checked(new EndpointsRequest(membersOf(body).get('endpoints')));
  }

  /** Endpoints to add, each with a URL. @throws Refused 400 */
  complete(): { url: string; name: string | undefined }[] {
    return this.endpoints.map(({ url, name }, index) => {
      if (url === undefined || url === '') throw invalid(`endpoints[${index}].url is missing`);
      return { url, name };
    });
  }

  /** Endpoints to remove, each with a URL or a name. @throws Refused 400 */
  identified(): { url: string | undefined; name: string | undefined }[] {
    return this.endpoints.map(({ url, name }, index) => {
      if (url === undefined && name === undefined) throw invalid(`endpoints[${index}] has neither url nor name`);
      return { url, name };
    });
  }
}
