import { api, call, resource as path, type Resource, type Stream } from "../api";
import type { DeviceApi, Parser } from "../device-api";
import { html } from "../dom";
import { Field, textInput } from "../field";
import { formDialog } from "../form";
import type { Desk } from "../page";
import { profileApi, type Profile } from "../profile-api";
import { LINKS } from "../route";
import type { Retention } from "./retention";

/** Makes a profile of a device: others that are made with it get the same streams, parsers, tags, folder and period. */
export function makeProfile(desk: Desk, device: DeviceApi, { id }: Resource): void {
  const name = new Field(textInput("profile-label", { required: true, maxlength: 64 }), "Name", {
    hint: "One that is there already is replaced. Devices that were made with it stay as they are.",
    about: /label|name/,
  });
  const { username } = desk.user;
  formDialog(
    desk,
    "Make a profile of this device",
    {
      fields: [name],
      action: "Make profile",
      send: async () => {
        const [resource, streams, computed, retention, parsers] = await Promise.all([
          call<Resource>(path(username, id)),
          api.streams(username, id),
          device.computed(),
          call<Retention[]>(`${path(username, id)}/retention`),
          device.parsers(),
        ]);
        const isComputed = new Set(computed.map((one) => String(one.id)));
        const posted = streams.filter((stream) => !isComputed.has(String(stream.id)));
        await profileApi(username).set(name.text, profileOf(resource, posted, retention, parsers));
      },
    },
    html(
      "p",
      { class: "hint" },
      "All of them are among your ",
      html("a", { href: LINKS.profiles }, "profiles"),
      ".",
    ),
  );
}

/** What a profile says that makes devices like this one. */
export function profileOf(
  { description, tags, folder, period_s }: Resource,
  streams: readonly Stream[],
  retention: readonly Retention[],
  parsers: readonly Parser[],
): Profile {
  const kept = new Map(retention.map((one) => [one.label, one]));
  return {
    description,
    tags,
    folder,
    period_s,
    streams: streams.map((stream) => ({
      label: stream.label,
      unit: stream.unit,
      description: stream.description,
      value_type: stream.value_type,
      keep_s: kept.get(stream.label)?.keep_s ?? null,
      history_size: kept.get(stream.label)?.history_size ?? null,
    })),
    parsers: parsers.map(({ id: _, ...parser }) => parser),
  };
}
