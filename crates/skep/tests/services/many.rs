//! One list of many services.

use skep::prelude::*;
use skep::test::Client;

macro_rules! many {
    ($($name:ident $path:literal)*) => {
        $(
            #[derive(Service)]
            #[service(GET $path)]
            struct $name;

            impl Handle for $name {
                async fn handle(self, _cx: &mut Cx<'_>) -> Result {
                    Ok(Response::text(stringify!($name)))
                }
            }
        )*

        /// All in one list.
        fn many() -> App {
            App::new().serve(services![$($name,)*])
        }

        const NAMES: &[(&str, &str)] = &[$((stringify!($name), $path)),*];
    };
}

many! {
    S01 "/01" S02 "/02" S03 "/03" S04 "/04" S05 "/05" S06 "/06" S07 "/07" S08 "/08" S09 "/09" S10 "/10" S11 "/11" S12 "/12" S13 "/13"
    S14 "/14" S15 "/15" S16 "/16" S17 "/17" S18 "/18" S19 "/19" S20 "/20" S21 "/21" S22 "/22" S23 "/23" S24 "/24" S25 "/25" S26 "/26"
    S27 "/27" S28 "/28" S29 "/29" S30 "/30" S31 "/31" S32 "/32" S33 "/33" S34 "/34" S35 "/35" S36 "/36" S37 "/37" S38 "/38" S39 "/39"
    S40 "/40" S41 "/41" S42 "/42" S43 "/43" S44 "/44" S45 "/45" S46 "/46" S47 "/47" S48 "/48" S49 "/49" S50 "/50" S51 "/51" S52 "/52"
    S53 "/53" S54 "/54" S55 "/55" S56 "/56" S57 "/57" S58 "/58" S59 "/59" S60 "/60" S61 "/61" S62 "/62" S63 "/63" S64 "/64"
    S65 "/65" S66 "/66" S67 "/67" S68 "/68" S69 "/69" S70 "/70" S71 "/71" S72 "/72" S73 "/73" S74 "/74"
    S75 "/75" S76 "/76" S77 "/77" S78 "/78" S79 "/79" S80 "/80" S81 "/81" S82 "/82" S83 "/83" S84 "/84"
    S85 "/85" S86 "/86" S87 "/87" S88 "/88" S89 "/89" S90 "/90" S91 "/91" S92 "/92" S93 "/93" S94 "/94"
    S95 "/95" S96 "/96" S97 "/97" S98 "/98" S99 "/99" S100 "/100"
}

#[test]
fn a_list_has_as_many_services_as_one_likes() {
    let client = Client::new(many());
    for (name, path) in NAMES {
        assert_eq!(client.get(path).text(), *name);
    }
    assert_eq!(NAMES.len(), 100);
}
